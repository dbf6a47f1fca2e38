"""Training of the policy: SuReAL, its data and its evaluation helpers."""
