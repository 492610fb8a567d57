"""Tables and figures of the source papers, reproduced; nothing here releases data."""
