# Scenario stream with 1 GiB each way.
by_name_only="takes long"
source "$interop/scenarios/stream.sh"
guest_functions=stream
fetched=1024
exchanged=1024
