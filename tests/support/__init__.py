"""What several tests share: oracles, draws, engines, tables and processes."""
