-- compatible
-- The request that submitted an operation, and the trace that it belongs to; events that an operation caused keep the trace as well. All
-- three stay null in what a node of the version before writes, and cost no scan. No index names the request: each would cost every
-- submission, while an operator who looks for one knows about when it was (HTTP-3).
alter table operation
  add column request_id text,
  add column traceparent text;
alter table event add column traceparent text;
