-- compatible
-- What a node tells of itself at the end of a step, for those who look at nodes. Each locks the table for a moment.
alter table overview_step add column threads integer, add column thread_restarts integer, add column mailboxes integer,
  add column browsers integer, add column browser_restarts integer, add column contexts integer, add column pages integer,
  add column runs_waiting integer, add column batch_items real, add column draining boolean;

-- Since when nothing has got through a proxy, and why.
alter table regional_proxy add column failing_since timestamptz, add column failure text;
