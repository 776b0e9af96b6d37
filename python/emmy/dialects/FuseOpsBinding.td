include "dialects/Fuse/FuseOps.td"
