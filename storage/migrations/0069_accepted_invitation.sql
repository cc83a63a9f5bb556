-- compatible
-- Whether a simulated invitation was accepted, which its event told until that was erased by its age. Of those before, and of a node of the
-- version before, the event tells it still. Locks the table for a moment, and writes no row of it.
alter table simulated_invitation add column accepted boolean not null default false;
