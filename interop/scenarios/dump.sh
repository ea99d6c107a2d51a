# What `nfs dump` says of a capture: version 1 against tshark, message by message; version 2, which tshark does not know, against the Sends and the
# bytes that tshark shows; both against what our client has counted itself.
peer="tshark"

scenario() {
    make_tree "$log/tree" 12
    guest 60 start_kernel_server "$laboratory"
    record kernel "$guest_rdma_port" v1 "rdma://127.0.0.1:$guest_rdma_port/tmp/export" --mount-port "$guest_mount_port"
    guest 60 stop_kernel_server "$laboratory"
    judge_version_one kernel "kernel server" 2

    mkdir "$log/export"
    start_server --export "$log/export" --no-root-squash --rpcrdma prefer-v2 --checksum
    record one "$rdma_port" v1 "rdma://127.0.0.1:$rdma_port/" --checksum
    record two "$rdma_port" v2 "rdma://127.0.0.1:$rdma_port/" --checksum
    judge_version_one one "own server" 0 # where the longest listing fits into a Send
    judge_version_two two "own server"
}

# Copies in and out, keeps what our client counts, and has the capture shown as it came from TCP, before its frames were put into packets of their own:
# record NAME PORT VERSION URL [OPTION...]
record() {
    local name=$1 port=$2 version=$3 url=$4
    shift 4
    rm -rf "$log/back"
    capture "$port" "$log/$name.pcap"
    client 120 put --statistics -r --rpcrdma "$version" "$@" "$log/tree" "$url" >"$log/put.log"
    client 120 get --statistics -r --rpcrdma "$version" "$@" "${url%/}/tree" "$log/back" >"$log/get.log"
    mv "$log/client.log" "$log/client.$name.log"
    stop_capture
    same "what was put and what came back" <(checksums "$log/tree") <(checksums "$log/back")
    editcap -F pcap "$log/$name.pcap.raw" "$log/$name.classic.pcap" 2>>"$log/tshark.log"
    "$nfs" dump "$log/$name.classic.pcap" >"$log/$name.txt"
    expect "lines of the dump that are neither setup nor message" "" "$(grep -vE ' (MPA (request|reply)|v[12]( \(version-two-08\))? RDMA2?_[A-Z]+ xid) ' "$log/$name.txt" || true)"
    expect "malformed messages" "" "$(grep malformed "$log/$name.txt" || true)"
    grep -E ' v[12]( |$)' "$log/$name.txt" | sed -E 's/^[^ ]+ [^ ]+ > [^ ]+ //; s/ \(version-two-08\)//' >"$log/$name.messages"
}

# The same line for each message from both: number and type, credits, the position of each segment to be read, the chunks, their segments.
# judge_version_one NAME WHAT LEAST-REPLY-CHUNKS
judge_version_one() {
    local name=$1 what=$2 least_reply_chunks=$3 reply_chunks
    by_tshark "$log/$name.pcap" | sort >"$log/$name.by-tshark"
    by_dump "$log/$name.messages" | sort >"$log/$name.by-dump"
    same "what tshark and the dump say, $what" "$log/$name.by-tshark" "$log/$name.by-dump"
    expect_at_least "messages with Read chunks, $what" 10 "$(grep -c 'read [1-9]' "$log/$name.by-dump")"
    expect_at_least "messages with Write chunks, $what" 10 "$(grep -c 'write [1-9]' "$log/$name.by-dump")"
    reply_chunks=$(grep -c 'reply 1' "$log/$name.by-dump" || true)
    expect_at_least "messages with a Reply chunk, $what" "$least_reply_chunks" "$reply_chunks"
    judge_statistics "$name" "$what" RDMA
    checked "version 1, $what: tshark and the dump agree about $(wc -l <"$log/$name.by-dump") messages, $(cut -d' ' -f1 "$log/$name.by-dump" | sort -u | wc -l)" \
        "XIDs, $(grep -c 'read [1-9]' "$log/$name.by-dump") messages with Read chunks, $(grep -c 'write [1-9]' "$log/$name.by-dump") with Write chunks," \
        "$reply_chunks with a Reply chunk, and each of $(grep -o '@' "$log/$name.by-dump" | wc -l) segments"
}

# Several values of a field are separated by commas. There is one message in each packet: two would be a line that no message of the dump has.
by_tshark() {
    local -a fields=()
    local field
    for field in xid msg_type flow_control reads_count position writes_count reply_count rdma_handle rdma_length rdma_offset; do
        fields+=(-e "rpcordma.$field")
    done
    tshark_reads "$1" -Y rpcordma -T fields -E 'separator=;' "${fields[@]}" | awk -F ';' '
        BEGIN { split("MSG NOMSG MSGP DONE ERROR", types, " ") }
        {
            count = split($8, handles, ","); split($9, lengths, ","); split($10, offsets, ",")
            line = substr($1, 3) " " types[$2 + 1] " credits " $3 " read " $4 + 0 " at " $5 " write " $6 + 0 " reply " $7 + 0
            for (i = 1; i <= count; i++) {
                offset = substr(offsets[i], 3)
                sub(/^0+/, "", offset)
                line = line " " substr(handles[i], 3) ":" lengths[i] "@" (offset == "" ? "0" : offset)
            }
            print line
        }'
}

by_dump() {
    awk '{
        sub(/ \|.*/, "")
        reads = writes = replies = 0
        positions = segments = list = ""
        for (i = 7; i <= NF; i++) {
            word = $i
            if (word == "read") { list = word; position = $(i + 2); i += 2 }
            else if (word == "write" || word == "reply") { list = word; if (word == "write") writes++; else replies++ }
            else {
                gsub(/[][]/, "", word)
                segments = segments " " word
                if (list == "read") { positions = positions (reads++ ? "," : "") position }
            }
        }
        sub(/^RDMA_/, "", $2)
        print $4 " " $2 " credits " $6 " read " reads " at " positions " write " writes " reply " replies segments
    }' "$1"
}

# Each Send that tshark counts is a line, with the XID, the version and the type that its bytes have, and the handle that it invalidates.
judge_version_two() {
    local name=$1 what=$2 sends
    sends=$(packets "$log/$name.pcap" "iwarp_rdma.opcode in {3..6} && iwarp_ddp.last_flag == 1")
    expect "lines for the Sends, $what" "$sends" "$(grep -c '^v2 ' "$log/$name.messages")"
    expect "messages in another version, $what" "" "$(grep -v '^v2 ' "$log/$name.messages" || true)"
    prefixes "$log/$name.pcap" | sort >"$log/$name.by-tshark"
    awk '{
        split("RDMA2_MSG 00000000 RDMA2_NOMSG 00000001 RDMA2_ERROR 00000004 RDMA2_CONNPROP 00000005", types, " ")
        for (i = 1; types[i] != $2 && i < 8; i += 2) ;
        printf "%s00000002%08x%s %s\n", $4, $6, types[i + 1], (/ invalidates / ? $NF : "")
    }' "$log/$name.messages" | sort >"$log/$name.by-dump"
    same "the bytes and what the dump says, $what" "$log/$name.by-tshark" "$log/$name.by-dump"
    judge_statistics "$name" "$what" RDMA2
    checked "version 2, $what: each of $sends Sends is a line with its XID, credits, type and invalidated handle; $calls calls and $chunks chunks, as our client" \
        "has counted"
}

# XID, version, credits and type of each Send as hexadecimal digits, and the handle that it invalidates. The untagged frame that a Send begins with has 20
# bytes ahead of them: its length, and the headers of DDP and RDMAP.
prefixes() {
    tshark_reads "$1" -Y 'iwarp_rdma.opcode in {3..6} && iwarp_ddp.mo == 0' -T fields -E 'separator=;' -e tcp.payload -e iwarp_rdma.inval_stag |
        awk -F ';' '{ print substr($1, 41, 32) " " ($2 == "" ? "" : sprintf("%08x", $2)) }'
}

# Calls and chunks of the dump, and the bytes in them, against the statistics of our client; sets calls and chunks.
judge_statistics() {
    local name=$1 what=$2 prefix=$3
    awk -v prefix="$prefix" '
        function bytes(list,    text, pieces, count, i, sum) {
            sum = 0
            text = $0
            sub(/ \|.*/, "", text)
            while (match(text, " " list " (at [0-9]+ )?\\[[^]]*\\]")) {
                pieces = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                count = split(pieces, words, /[][ ]/)
                for (i = 1; i <= count; i++)
                    if (split(words[i], parts, /[:@]/) == 3) { sum += parts[2]; segments++ }
            }
            return sum
        }
        $2 != prefix "_MSG" && $2 != prefix "_NOMSG" { next }
        {
            reply = prefix == "RDMA2" ? / flags RESPONSE/ : seen[$4]++
            segments = 0
            read = bytes("read"); written = bytes("write"); returned = bytes("reply")
        }
        !reply {
            count["exposures"] += segments
            count["read.chunk.bytes"] += read
            count[$2 == prefix "_NOMSG" ? "long.calls" : read ? "calls.with.read.chunk" : "calls.inline"]++
        }
        reply {
            count["write.chunk.bytes"] += written
            count["reply.chunk.bytes"] += returned
            if (written) count["replies.with.write.chunk"]++
            if ($2 == prefix "_NOMSG") count["long.replies"]++
            if (!written && $2 != prefix "_NOMSG") count["replies.inline"]++
            if (/ invalidates /) count["remote.invalidations"]++
        }
        END { for (name in count) if (count[name]) print name, count[name] }' "$log/$name.messages" | sort >"$log/$name.counted-by-dump"
    awk '
        $1 ~ /^rpcrdma\.chunks\.(calls|long|replies|read|write|reply|exposures|remote)/ && $NF > 0 { count[substr($1, 16)] += $NF }
        END { for (name in count) print name, count[name] }' "$log/client.$name.log" | sort >"$log/$name.counted-by-client"
    same "what the dump shows and our client has counted, $what" "$log/$name.counted-by-dump" "$log/$name.counted-by-client"
    calls=$(awk '/^(calls|long\.calls)/ { sum += $2 } END { print sum + 0 }' "$log/$name.counted-by-dump")
    chunks=$(awk '/^exposures/ { print $2 }' "$log/$name.counted-by-dump")
}
