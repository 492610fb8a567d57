"""What a holder asks for: release.toml and the Python verbs.

    release.toml ─> request_file ─> request.Request ─┬─> outlook: what it would cost (`funds`)
                                                     └─> fulfil ──┐
    entwined.open ─> desk.Desk: a Door with plan, release, sql ───┴─> verbs ─> door.Door.admit

`opening` opens or begins a ledger, `earlier` finds what was answered before. `verification` derives a certificate
again, `published` holds a folder against it, `history` several certificates and a ledger against each other. `words`
are the names of what is asked.
"""
