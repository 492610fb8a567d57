"""The page of the holder and the service for analysts: parse, call, report; every answer passes the one door.

    entwined serve ─> app ─┬─ guard: hosts, origins, sizes, rates, headers
                           ├─ service: the analysts' JSON ─> offers: a request's terms and its open door
                           │     passes: who may ask, how much (`issuer`, `bearer`: whom others vouch for);
                           │     turns and padding: when; records: what was replied
                           └─ holder, synthetic_pages: `visits` of the holder to folders of request and schema files
                                 (`projects`, `models_drawn`, `made_up`, `addresses`), `sessions`
    entwined.connect ─> client: the same verbs from elsewhere, with nothing installed but the core

`workers` are several processes of the service, `refusals` say what may be said of an error, and `dummy` makes rows of
the schema alone.
"""
