# Scenario stream with 1 GiB each way.
by_name_only="takes long"
source "$interop/scenarios/stream.sh"
fetched=1024
exchanged=1024
