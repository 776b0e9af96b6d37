include "dialects/Tile/TileOps.td"
