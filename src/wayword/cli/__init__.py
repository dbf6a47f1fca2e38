"""The command line, one module per verb. Nothing here is meant to be imported: ``wayword`` itself is."""

__all__: list[str] = []
