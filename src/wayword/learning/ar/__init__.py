"""Augmented-reality training data (Appendix F) and the experiments' object databases (Appendix G).

``config`` what a run looks like · ``objects``, ``nouns``, ``fitness`` which objects · ``layout`` where they stand ·
``backgrounds``, ``flights`` from where they are seen · ``compose`` the picture · ``generate``, ``shards`` the data ·
``preview`` a look at it · ``databases`` five photos of each catalogue object from simulated flights.

Nothing is imported here, so that the command line can read the configuration without compiling a renderer.
"""
