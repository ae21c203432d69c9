"""Circuit Wars: two players draw segments in turn; who closes an area owns its squares."""
