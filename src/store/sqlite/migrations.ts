// The tables, as numbered migrations. The first is that of 0.1.0. Never edit a migration that has been released: add one at the end.

import type { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../domain/errors.ts'
import { beforeFirstRelease } from '../before-first-release.ts'

/**
 * `sessions.title` is what a person named it, `failure` says why its last run failed, and `last_read` only counts for expiry.
 *
 * A row of `entries` holds consecutive entries, one per line, so a fast model does not need a row per token. `layout` is set if
 * the seqs are not consecutive (after compaction). It has one element per line: the seq, or [seq, spans].
 *
 * `tail` holds text in flight: one row per group commit, for all sessions together. The text moves to `entries` when the step
 * or the run ends. Without `tail`, every token would write a page of its own session.
 *
 * `audit_imported` holds chains of the audit trails of other stores, apart from `audit`, which lists read.
 *
 * `sessions.supervision` holds what a session of an agent elsewhere has beyond other sessions, `supervised_status` is its status.
 *
 * A row of `search_words` is a message (its mid), or the title of an agent elsewhere (its sid, negative). It has the words, and in
 * `place` one word each for the session, the owner and the bucket of rows. The texts themselves stay in their tables. `search_state`
 * says how far the messages are indexed, `search_due` which titles are not.
 *
 * `../tables/` says what the rows of the other tables hold, in this database and in Postgres.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE sessions (
    sid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    active_agent TEXT,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_activity INTEGER NOT NULL,
    terminated_at INTEGER,
    last_tool TEXT,
    alias TEXT,
    label TEXT,
    message_count INTEGER NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0,
    unlisted INTEGER NOT NULL,
    seq_ceiling INTEGER NOT NULL,
    compacted INTEGER NOT NULL,
    supervised_status TEXT,
    supervision TEXT,
    metadata TEXT NOT NULL,
    state TEXT
  ) STRICT;
  CREATE UNIQUE INDEX sessions_alias ON sessions (owner, alias) WHERE alias IS NOT NULL;
  CREATE INDEX sessions_uncompacted ON sessions (sid) WHERE compacted = 0;
  CREATE INDEX sessions_supervised ON sessions (supervised_status, last_activity) WHERE supervised_status IS NOT NULL;
  CREATE INDEX sessions_listed ON sessions (owner, last_activity, id, agent, supervised_status)
    WHERE NOT unlisted AND status <> 'terminated';
  CREATE INDEX sessions_labelled ON sessions (owner, label, last_activity, id, agent, supervised_status)
    WHERE NOT unlisted AND status <> 'terminated';
  CREATE INDEX sessions_activity ON sessions (last_activity, id, agent, supervised_status, unlisted, status);

  CREATE TABLE runs (
    rid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    sid INTEGER NOT NULL REFERENCES sessions (sid) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    wire_id TEXT NOT NULL,
    parent_run_id TEXT,
    status TEXT NOT NULL,
    origin TEXT NOT NULL,
    input TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    usage TEXT NOT NULL,
    error TEXT,
    cancel_requested INTEGER NOT NULL,
    first_seq INTEGER,
    last_seq INTEGER,
    fence INTEGER NOT NULL,
    lease_owner TEXT
  ) STRICT;
  CREATE UNIQUE INDEX runs_wire ON runs (sid, wire_id);
  CREATE INDEX runs_owner_wire ON runs (owner, wire_id);
  CREATE INDEX runs_open ON runs (sid) WHERE status IN ('queued', 'running', 'waiting');
  -- An expression, so that only the list of a session's runs uses this index. SQLite would prefer a plain index of sid to runs_open,
  -- and then read every run of a session to find the open ones.
  CREATE INDEX runs_session ON runs (sid + 0);

  CREATE TABLE messages (
    mid INTEGER PRIMARY KEY,
    sid INTEGER NOT NULL REFERENCES sessions (sid) ON DELETE CASCADE,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    lane TEXT,
    superseded_by TEXT,
    content TEXT NOT NULL,
    extra TEXT
  ) STRICT;
  CREATE UNIQUE INDEX messages_id ON messages (sid, id);
  CREATE INDEX messages_shown ON messages (sid) WHERE superseded_by IS NULL AND lane IS NULL;
  CREATE INDEX messages_lane ON messages (sid, lane) WHERE lane IS NOT NULL;

  CREATE TABLE entries (
    eid INTEGER PRIMARY KEY,
    sid INTEGER NOT NULL REFERENCES sessions (sid) ON DELETE CASCADE,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    run_id TEXT,
    data TEXT NOT NULL,
    layout TEXT
  ) STRICT;
  CREATE UNIQUE INDEX entries_seq ON entries (sid, last_seq);

  CREATE TABLE tail (tid INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;

  CREATE TABLE leases (owner TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE idempotency (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    run_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_run ON idempotency (run_id);
  CREATE INDEX idempotency_expiry ON idempotency (expires_at);

  CREATE TABLE waits (
    ord INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    continuation_run_id TEXT,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    data TEXT NOT NULL,
    unapplied INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX waits_newest ON waits (kind, created_at, id);
  CREATE INDEX waits_status ON waits (kind, status, created_at, id);
  CREATE INDEX waits_owner ON waits (kind, owner, created_at, id);
  CREATE INDEX waits_owner_status ON waits (kind, owner, status, created_at, id);
  CREATE INDEX waits_session ON waits (session, status);
  CREATE INDEX waits_run ON waits (run_id);
  CREATE INDEX waits_continuation ON waits (continuation_run_id) WHERE continuation_run_id IS NOT NULL;
  CREATE INDEX waits_due ON waits (expires_at) WHERE status = 'pending';
  CREATE INDEX waits_unapplied ON waits (created_at, id) WHERE unapplied;

  CREATE TABLE grants (
    ord INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX grants_agent ON grants (agent, scope);
  CREATE INDEX grants_scope ON grants (scope);
  CREATE INDEX grants_expiry ON grants (expires_at);

  CREATE TABLE audit (n INTEGER PRIMARY KEY, chain TEXT NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
  CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit trail is only ever added to'); END;
  CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit trail is only ever added to'); END;
  CREATE TABLE audit_imported (
    chain TEXT NOT NULL,
    n INTEGER NOT NULL,
    text TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (chain, n)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER audit_imported_is_not_changed BEFORE UPDATE ON audit_imported
    BEGIN SELECT RAISE(ABORT, 'the audit trail is only ever added to'); END;
  CREATE TRIGGER audit_imported_is_not_removed BEFORE DELETE ON audit_imported
    BEGIN SELECT RAISE(ABORT, 'the audit trail is only ever added to'); END;

  CREATE TABLE files (
    ord INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX files_session ON files (session) WHERE session IS NOT NULL;
  CREATE INDEX files_hash ON files (sha256);
  CREATE INDEX files_unsent ON files (created_at) WHERE session IS NULL;
  CREATE INDEX files_unsent_owner ON files (owner, sha256, bytes, created_at, session) WHERE session IS NULL;

  CREATE TABLE feed (
    n INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    record_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    parent_run_id TEXT,
    type TEXT,
    risk TEXT
  ) STRICT;

  CREATE TABLE channels (name TEXT PRIMARY KEY, cursor INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE outbox (
    channel TEXT NOT NULL,
    n INTEGER NOT NULL,
    item TEXT,
    count INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    next_try_at INTEGER NOT NULL,
    PRIMARY KEY (channel, n)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE channel_notes (
    channel TEXT NOT NULL,
    key TEXT NOT NULL,
    session TEXT,
    value TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (channel, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX channel_notes_session ON channel_notes (session) WHERE session IS NOT NULL;

  CREATE TABLE proposals (
    approval_id TEXT NOT NULL,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    diff TEXT NOT NULL,
    after BLOB,
    PRIMARY KEY (approval_id, session)
  ) STRICT;
  CREATE INDEX proposals_session ON proposals (session);

  CREATE TABLE instructions (
    ord INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    session TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    workspace TEXT NOT NULL,
    text TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    delivered_at INTEGER
  ) STRICT;
  CREATE INDEX instructions_session ON instructions (session) WHERE session IS NOT NULL;
  CREATE INDEX instructions_tasks ON instructions (workspace, owner) WHERE session IS NULL;

  CREATE TABLE checkpoints (
    ord INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX checkpoints_session ON checkpoints (session);
  CREATE INDEX checkpoints_owner ON checkpoints (owner, created_at);
  CREATE INDEX checkpoints_newest ON checkpoints (created_at);

  CREATE TABLE policy_pins (
    workspace TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL
  ) STRICT;

  CREATE VIRTUAL TABLE search_words USING fts5(
    body, place, content='', contentless_delete=1, tokenize='ascii', prefix='3');
  -- Merging segments by 8 (the default is 4) takes a fifth of the CPU and of the written pages away, and a search looks into two more.
  INSERT INTO search_words (search_words, rank) VALUES ('automerge', 8);
  CREATE TABLE search_state (only INTEGER PRIMARY KEY CHECK (only = 1), indexed_to INTEGER NOT NULL) STRICT;
  INSERT INTO search_state (only, indexed_to) VALUES (1, 0);
  CREATE TABLE search_due (sid INTEGER PRIMARY KEY) STRICT;

  CREATE TABLE usage (
    day INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    runs INTEGER NOT NULL,
    model_runs INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cached_input INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    PRIMARY KEY (day, session_id, owner, agent, provider, model)
  ) STRICT, WITHOUT ROWID;
  `,
  // How runs ended, and how long they took.
  `
  ALTER TABLE usage ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN cancelled INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN took TEXT NOT NULL DEFAULT '';
  `,
  // Sessions that failed, titles that people give, and what people think of answers.
  `
  ALTER TABLE sessions ADD COLUMN last_read INTEGER;
  ALTER TABLE sessions ADD COLUMN title TEXT;
  ALTER TABLE sessions ADD COLUMN failure TEXT;
  UPDATE sessions SET failure = '' WHERE status <> 'terminated'
    AND sid IN (SELECT sid FROM (SELECT sid, status, max(rid) FROM runs GROUP BY sid) WHERE status IN ('failed', 'interrupted'));
  CREATE INDEX sessions_read ON sessions (last_read) WHERE last_read IS NOT NULL;
  CREATE INDEX sessions_failed ON sessions (last_activity, id) WHERE failure IS NOT NULL;
  CREATE INDEX messages_answer ON messages (id) WHERE role = 'assistant';
  CREATE TABLE feedback (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message TEXT NOT NULL,
    by TEXT NOT NULL,
    value TEXT NOT NULL,
    note TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, message, by)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX feedback_value ON feedback (value, session);
  `,
  // When records were decided.
  `
  ALTER TABLE waits ADD COLUMN decided_at INTEGER;
  UPDATE waits SET decided_at = json_extract(data, '$.decidedAt');
  CREATE INDEX waits_done ON waits (kind, COALESCE(decided_at, created_at), id)
    WHERE status NOT IN ('pending', 'nudged', 'escalated');
  `,
]

/** "QDK1". Marks a database of 0.1.0 or later: what was written before counts its versions differently. */
const APPLICATION_ID = 0x51444b31
/** "QDCK". Checkouts from shortly before 0.1.0 wrote other columns under it. */
const EARLIER_ID = 0x5144434b

export const SCHEMA_VERSION = migrations.length

/** The database's version; 0: it is empty. Throws `data_dir_newer` or `data_dir_older` if this program can never read it. */
export function readVersion(db: DatabaseSync, supported = SCHEMA_VERSION): number {
  const version = numberOf(db, 'user_version')
  const marker = numberOf(db, 'application_id')
  if (version > 0 && marker !== APPLICATION_ID) {
    const readBy = marker === EARLIER_ID ? '6f8e0edc' : '6665030b'
    throw beforeFirstRelease('data directory', version, readBy, 'use another --data-dir')
  }
  if (version > supported) {
    throw new ServerError(
      'data_dir_newer',
      `The data directory was written by a newer Quarterdeck (format ${version}, this one reads up to ${supported}). Start the newer version, or use another --data-dir.`,
      { details: { found: version, supported } },
    )
  }
  return version
}

const numberOf = (db: DatabaseSync, pragma: 'user_version' | 'application_id'): number =>
  Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma] ?? 0)

/** Brings an older database up to date in one transaction. Refuses one that it cannot read before anything is written. */
export function migrate(db: DatabaseSync, known = migrations): void {
  const version = readVersion(db, known.length)
  if (version === known.length) return
  db.exec('BEGIN IMMEDIATE')
  for (const step of known.slice(version)) db.exec(step)
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${known.length}; COMMIT`)
}
