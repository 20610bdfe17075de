"""Classification calibration: H below H- for every eta but 1/2."""
