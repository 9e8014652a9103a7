"""Neural taggers: BiLSTM and transformers, with the title and with a CRF (thesis, §4.3).

They need the extra `train`.
"""
