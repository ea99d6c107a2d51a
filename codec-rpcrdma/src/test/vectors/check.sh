#!/bin/sh
# Holds the test vectors of version 2 against the XDR routines that rpcgen makes of the .x files: what they say a message
# contains is encoded in C, and must come out as the bytes that they say it has.
#
# Needs rpcgen, a C compiler, the headers of libtirpc and Python 3; on Debian the packages rpcsvc-proto, gcc, libtirpc-dev,
# pkg-config and python3. Without them it says so and exits with 77.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
module=$here/../../..
xdr=$module/src/main/resources/org/nettyrdma/codec/rpcrdma/format

for tool in rpcgen cc pkg-config python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing, nothing was checked"; exit 77; }
done
pkg-config --exists libtirpc || { echo "libtirpc is missing, nothing was checked"; exit 77; }

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$build"
cat "$xdr/rpcrdma-v2.x" "$xdr/rpcrdma-v2-characteristics.x" > rpcrdma_v2.x
rpcgen -h -o rpcrdma_v2.h rpcrdma_v2.x
rpcgen -c -o rpcrdma_v2_xdr.c rpcrdma_v2.x

cc $(pkg-config --cflags libtirpc) -I. -o encode "$here/encode.c" rpcrdma_v2_xdr.c \
    $(pkg-config --libs libtirpc)
python3 "$here/check.py" ./encode "$module"/src/test/resources/vectors/v2-*.json
