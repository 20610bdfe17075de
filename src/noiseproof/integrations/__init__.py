"""One file an ecosystem: what its users expect a noiseproof classifier to look like."""
