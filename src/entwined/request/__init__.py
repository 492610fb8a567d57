"""What a holder asks for: release.toml and the Python verbs."""
