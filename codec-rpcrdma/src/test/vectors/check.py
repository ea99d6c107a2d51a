"""Encodes the decoded fields of the test vectors with another implementation, and compares the bytes.

Usage: check.py ENCODER VECTORS.json...
"""

import json
import subprocess
import sys


def segments(chunk):
    words = [len(chunk)]
    for segment in chunk:
        words += ["0x" + segment["handle"], segment["length"], "0x" + segment["offset"]]
    return words


def chunk_words(chunks):
    entries = [(chunk["position"], segment) for chunk in chunks["readChunks"] for segment in chunk["segments"]]
    words = ["0x" + chunks["invalidateHandle"], len(entries)]
    for position, segment in entries:
        words += [position] + segments([segment])[1:]
    words.append(len(chunks["writeChunks"]))
    for chunk in chunks["writeChunks"]:
        words += segments(chunk)
    return words + ([0] if chunks["replyChunk"] is None else [1] + segments(chunks["replyChunk"]))


def words_of(header):
    """The message as encode.c reads it."""
    words = [header["type"], "0x" + header["xid"], header["version"], header["credits"], "0x" + header["flags"]]
    if "chunks" in header:
        words += chunk_words(header["chunks"])
        if "rpcMessage" in header:
            words.append("0x" + header["rpcMessage"][:8])
    elif "error" in header:
        words += [value for key, value in header["error"].items() if key != "name"]
    elif "properties" in header:
        words.append(len(header["properties"]))
        for entry in header["properties"]:
            words += [entry["id"], entry["value"]]
    elif "property" in header:
        words += [header["property"]["id"], header["property"]["value"], int(header["pendingCleared"])]
    else:
        for positions in header["done"], header["rejected"], header["pending"]:
            words += [len(positions)] + positions
    return " ".join(str(word) for word in words)


def answer_words(answer):
    """A refusal in hexadecimal digits, taken to pieces."""
    xid, version, credits, _, flags, code, *body = ("0x" + answer[i:i + 8] for i in range(0, len(answer), 8))
    return " ".join(["RDMA2_ERROR", xid, version, credits, flags, code] + body)


def main():
    encoder, *files = sys.argv[1:]
    lines, expected = [], {}
    for file in files:
        for vector in json.load(open(file))["vectors"]:
            header = vector.get("header")
            if header and vector["canonical"] and header["type"].startswith("RDMA2_"):
                lines.append(vector["name"] + " " + words_of(header))
                # The XDR of RDMA2_MSG has the first word of the RPC message in it, and no more.
                rest = len(header.get("rpcMessage", "        ")) - 8
                wire = "".join(digits for digits, _ in vector["wire"])
                expected[vector["name"]] = wire[:len(wire) - rest]
            elif (vector.get("answer") or "")[24:40] == "0000000400000001" and vector.get("error") != "ERR_VERS":
                lines.append(vector["name"] + "/answer " + answer_words(vector["answer"]))
                expected[vector["name"] + "/answer"] = vector["answer"]
    output = subprocess.run([encoder], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    encoded = dict(line.split(" ") for line in output.splitlines())
    wrong = [name for name in expected if encoded.get(name) != expected[name]]
    for name in wrong:
        print(f"{name}:\n  vector {expected[name]}\n  rpcgen {encoded.get(name)}")
    print(f"{len(expected) - len(wrong)} of {len(expected)} messages are the same")
    sys.exit(1 if wrong or not expected else 0)


main()
