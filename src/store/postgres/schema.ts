// The tables, as numbered migrations. The first is that of 0.1.0. Never edit a migration that has been released: add one at the end.
//
// Replicas of the version before still run while a migration is applied, and may start again after it. So a migration only adds (tables,
// columns that may be null or have a default, indexes), and a later release takes away what no running version uses any more.

export interface Migration {
  /** What it does, for `quarterdeck migrate --dry-run`. */
  readonly title: string
  /** The first release that has it. */
  readonly since: string
  /**
   * Absent: it expands, and every program that could use the tables before still can. Otherwise it contracts: a program must know the
   * migrations up to this number, or it cannot use the tables any more.
   */
  readonly needs?: number
  readonly sql: string
}

/**
 * Every table that belongs to a session has the session first in its key, so the tables can be distributed by session. Lookups by a
 * bare id go through `routes`.
 *
 * `heads` is the lock, the fence and the sequence of a session in one small row: whoever writes to the session's log updates it first.
 * `ceiling` is reserved on disk: after a crash of Postgres, no seq up to there is used again, because readers may have seen it.
 *
 * A row of `entries` holds consecutive entries, one per line. `layout` is set if the seqs are not consecutive (after compaction).
 *
 * `writers` has a row per process. `n` counts its transactions, so a process that lost its connection can tell whether the last one
 * was committed. `answer` is what a group of text was answered.
 *
 * `feed_new` collects the items of the feed in the order of their transactions' writes. They get their numbers when they move to
 * `feed`, one mover at a time, so no number appears below one that was already shown. A function moves them, because its statements
 * see what the mover before it has committed, and because nobody can pause it half-way. The move itself is on disk before anybody
 * sees its numbers.
 *
 * Where a query needs a field of a JSON text, the field has a column of its own: Postgres cannot look into JSON that has a NUL.
 *
 * `audit.place` orders the entries of all chains as they were written. It is null for chains that came from elsewhere.
 *
 * A row of `search_words` has the words of a message (source `m`) or of the title of an agent elsewhere (source `t`, message ''), and
 * words that begin with a slash for its place (`rows/search-table.ts`). `search_due` says what has to be indexed. `v` tells whether it
 * has changed since somebody claimed it.
 */
export const migrations: readonly Migration[] = [
  {
    title: 'sessions with their logs, runs, messages, waits and files; the audit trail, the feed, the outbox and usage',
    since: '0.1.0',
    sql: `
  CREATE TABLE routes (
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX routes_session ON routes (session);

  CREATE TABLE sessions (
    id text COLLATE "C" PRIMARY KEY,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    owner text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    active_agent text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    last_activity bigint NOT NULL,
    terminated_at bigint,
    last_tool text,
    metadata text NOT NULL,
    alias text COLLATE "C",
    label text COLLATE "C",
    message_count bigint NOT NULL,
    tokens bigint NOT NULL DEFAULT 0,
    state text,
    unlisted boolean NOT NULL,
    compacted boolean NOT NULL,
    supervision text,
    supervised_status text COLLATE "C",
    workspace text COLLATE "C",
    token_id text COLLATE "C",
    mcp_ids text[]
  );
  CREATE INDEX sessions_listed ON sessions (owner, last_activity, id, agent, label) WHERE NOT unlisted AND status <> 'terminated';
  CREATE INDEX sessions_labelled ON sessions (owner, label, last_activity, id)
    WHERE label IS NOT NULL AND NOT unlisted AND status <> 'terminated';
  CREATE INDEX sessions_activity ON sessions (last_activity, id, agent);
  CREATE INDEX sessions_supervised ON sessions (supervised_status, last_activity) WHERE supervised_status IS NOT NULL;
  CREATE INDEX sessions_elsewhere ON sessions (last_activity, id) WHERE supervised_status IS NOT NULL;
  CREATE INDEX sessions_uncompacted ON sessions (last_activity) WHERE NOT compacted;

  CREATE TABLE heads (
    session text COLLATE "C" PRIMARY KEY,
    head bigint NOT NULL,
    ceiling bigint NOT NULL,
    run text COLLATE "C",
    fence bigint
  ) WITH (fillfactor = 50);

  CREATE TABLE entries (
    session text COLLATE "C" NOT NULL,
    last_seq bigint NOT NULL,
    first_seq bigint NOT NULL,
    run_id text COLLATE "C",
    data text NOT NULL,
    layout text,
    PRIMARY KEY (session, last_seq)
  );

  CREATE TABLE runs (
    session text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    owner text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    wire_id text COLLATE "C" NOT NULL,
    parent_run_id text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    input text NOT NULL,
    created_at bigint NOT NULL,
    started_at bigint,
    finished_at bigint,
    usage text NOT NULL,
    error text,
    cancel_requested boolean NOT NULL,
    first_seq bigint,
    last_seq bigint,
    fence bigint NOT NULL,
    lease_owner text COLLATE "C",
    PRIMARY KEY (session, id)
  );
  CREATE UNIQUE INDEX runs_wire ON runs (session, wire_id);
  CREATE INDEX runs_session ON runs (session, ord);
  CREATE INDEX runs_open ON runs (session, ord) WHERE status IN ('queued', 'running', 'waiting');
  CREATE INDEX runs_owned ON runs (lease_owner) WHERE status = 'running';
  CREATE INDEX runs_queued ON runs (session) WHERE status = 'queued';
  CREATE INDEX runs_waiting ON runs (session) WHERE status = 'waiting';

  CREATE TABLE messages (
    session text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    role text COLLATE "C" NOT NULL,
    content text NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    extra text,
    superseded_by text COLLATE "C",
    lane text COLLATE "C",
    PRIMARY KEY (session, id)
  );
  CREATE INDEX messages_order ON messages (session, ord);
  CREATE INDEX messages_shown ON messages (session, ord) WHERE superseded_by IS NULL AND lane IS NULL;
  CREATE INDEX messages_lane ON messages (session, lane, ord) WHERE lane IS NOT NULL;

  CREATE TABLE leases (owner text COLLATE "C" PRIMARY KEY, until bigint NOT NULL);

  CREATE TABLE writers (
    id text COLLATE "C" PRIMARY KEY,
    n bigint NOT NULL,
    answer text NOT NULL DEFAULT '',
    at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);

  CREATE TABLE generations (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), started text NOT NULL);

  CREATE TABLE idempotency (
    owner text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    digest text NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (owner, key)
  );
  CREATE INDEX idempotency_run ON idempotency (run_id);
  CREATE INDEX idempotency_expiry ON idempotency (expires_at);

  CREATE TABLE waits (
    session text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    run_id text COLLATE "C" NOT NULL,
    continuation_run_id text COLLATE "C",
    owner text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    data text NOT NULL,
    unapplied boolean NOT NULL,
    PRIMARY KEY (session, id)
  );
  CREATE INDEX waits_run ON waits (session, run_id);
  CREATE INDEX waits_continuation ON waits (session, continuation_run_id) WHERE continuation_run_id IS NOT NULL;
  CREATE INDEX waits_open ON waits (session, status);
  CREATE INDEX waits_newest ON waits (kind, created_at, id);
  CREATE INDEX waits_status ON waits (kind, status, created_at, id);
  CREATE INDEX waits_owner ON waits (kind, owner, created_at, id);
  CREATE INDEX waits_owner_status ON waits (kind, owner, status, created_at, id);
  CREATE INDEX waits_due ON waits (expires_at, ord) WHERE status = 'pending';
  CREATE INDEX waits_unapplied ON waits (created_at, id) WHERE unapplied;

  CREATE TABLE grants (
    id text COLLATE "C" PRIMARY KEY,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    agent text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    data text NOT NULL
  );
  CREATE INDEX grants_agent ON grants (agent, scope);
  CREATE INDEX grants_scope ON grants (scope);
  CREATE INDEX grants_expiry ON grants (expires_at);

  CREATE TABLE files (
    id text COLLATE "C" PRIMARY KEY,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    session text COLLATE "C",
    owner text COLLATE "C" NOT NULL,
    name text NOT NULL,
    mime_type text NOT NULL,
    bytes bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL
  );
  CREATE INDEX files_session ON files (session, ord) WHERE session IS NOT NULL;
  CREATE INDEX files_hash ON files (sha256);
  CREATE INDEX files_unsent_owner ON files (owner) WHERE session IS NULL;
  CREATE INDEX files_unsent ON files (created_at) WHERE session IS NULL;

  CREATE SEQUENCE audit_places;
  CREATE TABLE audit (
    chain text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    text text NOT NULL,
    hash text NOT NULL,
    place bigint DEFAULT nextval('audit_places'),
    PRIMARY KEY (chain, n)
  );
  CREATE INDEX audit_place ON audit (place) WHERE place IS NOT NULL;
  CREATE FUNCTION audit_is_only_added_to() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the audit trail is only ever added to'; END $$;
  CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_only_added_to();

  CREATE TABLE feed_new (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    session_id text NOT NULL,
    owner text NOT NULL,
    agent text NOT NULL,
    status text NOT NULL,
    parent_run_id text,
    type text,
    risk text
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
  CREATE TABLE feed (
    n bigint PRIMARY KEY,
    at bigint NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    session_id text NOT NULL,
    owner text NOT NULL,
    agent text NOT NULL,
    status text NOT NULL,
    parent_run_id text,
    type text,
    risk text
  );
  CREATE FUNCTION number_feed() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE last bigint;
    BEGIN
      IF NOT EXISTS (SELECT 1 FROM feed_new) THEN RETURN; END IF;
      PERFORM pg_advisory_xact_lock('feed'::regclass::oid::int, 1);
      IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      SELECT coalesce(max(n), 0) INTO last FROM feed;
      WITH moved AS (DELETE FROM feed_new RETURNING *)
        INSERT INTO feed SELECT last + row_number() OVER (ORDER BY id), at, kind, record_id, session_id, owner, agent, status,
          parent_run_id, type, risk FROM moved;
    END $$;

  CREATE TABLE channels (name text COLLATE "C" PRIMARY KEY, cursor bigint NOT NULL);
  CREATE TABLE outbox (
    channel text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    item text,
    count bigint NOT NULL,
    attempts bigint NOT NULL,
    next_try_at bigint NOT NULL,
    PRIMARY KEY (channel, n)
  );
  CREATE TABLE channel_notes (
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    value text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (channel, key)
  );
  CREATE INDEX channel_notes_session ON channel_notes (session) WHERE session IS NOT NULL;

  CREATE TABLE proposals (
    session text COLLATE "C" NOT NULL,
    approval_id text COLLATE "C" NOT NULL,
    diff text NOT NULL,
    after bytea,
    PRIMARY KEY (session, approval_id)
  );
  CREATE TABLE instructions (
    id text COLLATE "C" PRIMARY KEY,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    session text COLLATE "C",
    owner text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    text text NOT NULL,
    source text NOT NULL,
    created_at bigint NOT NULL,
    delivered_at bigint
  );
  CREATE INDEX instructions_session ON instructions (session, ord) WHERE session IS NOT NULL;
  CREATE INDEX instructions_tasks ON instructions (workspace, owner, ord) WHERE session IS NULL;
  CREATE TABLE checkpoints (
    session text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    ord bigint GENERATED ALWAYS AS IDENTITY,
    owner text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (session, id)
  );
  CREATE INDEX checkpoints_session ON checkpoints (session, ord);
  CREATE INDEX checkpoints_owner ON checkpoints (owner, created_at, ord);
  CREATE INDEX checkpoints_newest ON checkpoints (created_at, ord);
  CREATE TABLE policy_pins (
    workspace text COLLATE "C" PRIMARY KEY,
    sha256 text NOT NULL,
    text text NOT NULL,
    at bigint NOT NULL,
    by text NOT NULL
  );

  CREATE TABLE usage (
    day bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    runs bigint NOT NULL,
    model_runs bigint NOT NULL,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cached_input bigint NOT NULL,
    cache_write bigint NOT NULL,
    reasoning bigint NOT NULL,
    PRIMARY KEY (session_id, day, owner, agent, provider, model)
  );
  CREATE INDEX usage_day ON usage (day);
  CREATE INDEX usage_owner ON usage (owner, day);

  CREATE TABLE search_words (
    session text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    ord bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (session, source, message_id)
  );
  CREATE INDEX search_words_words ON search_words USING gin (words) WITH (gin_pending_list_limit = 256);
  CREATE TABLE search_due (
    session text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    v bigint GENERATED ALWAYS AS IDENTITY,
    claimed_at timestamptz,
    PRIMARY KEY (session, source, message_id)
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

  CREATE TABLE shared (
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    version bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (kind, key)
  );
  CREATE INDEX shared_expiry ON shared (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE counters (
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    ends_at bigint NOT NULL,
    PRIMARY KEY (kind, key)
  );
  CREATE INDEX counters_end ON counters (ends_at);
  CREATE TABLE readers (
    replica text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    PRIMARY KEY (session, run, replica)
  );
  CREATE INDEX readers_replica ON readers (replica);

  CREATE TABLE blobs (sha256 text COLLATE "C" PRIMARY KEY, bytes bigint NOT NULL, created_at bigint NOT NULL);
  CREATE TABLE blob_parts (
    sha256 text COLLATE "C" NOT NULL,
    n integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (sha256, n)
  );
  ALTER TABLE blob_parts ALTER COLUMN data SET STORAGE EXTERNAL;
  `,
  },
  {
    title: 'how runs ended, and how long they took',
    since: '0.1.0',
    sql: `
  ALTER TABLE usage
    ADD COLUMN failed bigint NOT NULL DEFAULT 0,
    ADD COLUMN cancelled bigint NOT NULL DEFAULT 0,
    ADD COLUMN took text COLLATE "C" NOT NULL DEFAULT '';
  `,
  },
  {
    title: 'sessions that failed, titles that people give, and what people think of answers',
    since: '0.1.0',
    sql: `
  ALTER TABLE sessions ADD COLUMN last_read bigint, ADD COLUMN title text, ADD COLUMN failure text;
  UPDATE sessions SET failure = '' FROM (SELECT DISTINCT ON (session) session, status FROM runs ORDER BY session, ord DESC) AS last
    WHERE last.session = sessions.id AND last.status IN ('failed', 'interrupted');
  CREATE INDEX sessions_read ON sessions (last_read) WHERE last_read IS NOT NULL;
  CREATE INDEX sessions_failed ON sessions (last_activity, id) WHERE failure IS NOT NULL;
  CREATE INDEX messages_answer ON messages (id) WHERE role = 'assistant';
  CREATE TABLE feedback (
    session text COLLATE "C" NOT NULL,
    message text COLLATE "C" NOT NULL,
    by text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    note text,
    at bigint NOT NULL,
    PRIMARY KEY (session, message, by)
  );
  CREATE INDEX feedback_value ON feedback (value, session);
  `,
  },
  {
    // A table that is written anew builds each index once, and has no dead rows. An update took more than twice as long. Each escape
    // becomes a blank, because Postgres reads no JSON that has a NUL or half of a surrogate pair.
    title: 'when records were decided',
    since: '0.1.0',
    sql: `
  ALTER TABLE waits ADD COLUMN decided_at text;
  ALTER TABLE waits ALTER COLUMN decided_at TYPE bigint
    USING (regexp_replace(data, '\\\\u[0-9a-f]{4}', '\\\\u0020', 'g')::json ->> 'decidedAt')::bigint;
  CREATE INDEX waits_done ON waits (kind, COALESCE(decided_at, created_at), id)
    WHERE status NOT IN ('pending', 'nudged', 'escalated');
  `,
  },
  {
    // A passage has its terms twice: GIN knows which rows have a term, and the row how often (`counts`, in the order of `terms`). Terms
    // are mixed with the name of their index, so that two indexes rarely meet in GIN. Codes are apart from the vectors, because a search
    // reads all of them.
    title: 'documents that agents search',
    since: '0.1.0',
    sql: `
  CREATE TABLE knowledge_indexes (
    n integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    files bigint NOT NULL DEFAULT 0,
    problems bigint NOT NULL DEFAULT 0,
    passages bigint NOT NULL DEFAULT 0,
    length bigint NOT NULL DEFAULT 0,
    embedded bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  CREATE TABLE knowledge_files (
    idx integer NOT NULL,
    path text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    changed double precision NOT NULL,
    document bigint,
    problem text,
    PRIMARY KEY (idx, path)
  );
  CREATE INDEX knowledge_files_document ON knowledge_files (document, path) WHERE document IS NOT NULL;
  CREATE INDEX knowledge_files_problem ON knowledge_files (idx, path) WHERE problem IS NOT NULL;
  CREATE TABLE knowledge_documents (
    document bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idx integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    language text COLLATE "C" NOT NULL,
    UNIQUE (idx, name)
  );
  CREATE INDEX knowledge_documents_language ON knowledge_documents (idx, language);
  CREATE TABLE knowledge_places (
    document bigint NOT NULL,
    n integer NOT NULL,
    passage bigint NOT NULL,
    continues boolean NOT NULL,
    PRIMARY KEY (document, n)
  );
  CREATE INDEX knowledge_places_passage ON knowledge_places (passage);
  CREATE TABLE knowledge_passages (
    passage bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idx integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    length integer NOT NULL,
    terms integer[] NOT NULL,
    counts bytea NOT NULL,
    UNIQUE (idx, id)
  );
  CREATE INDEX knowledge_passages_digest ON knowledge_passages (idx, digest, id);
  CREATE INDEX knowledge_passages_terms ON knowledge_passages USING gin (terms) WITH (gin_pending_list_limit = 256);
  CREATE TABLE knowledge_texts (passage bigint PRIMARY KEY, data text NOT NULL);
  CREATE TABLE knowledge_frequencies (
    idx integer NOT NULL,
    term integer NOT NULL,
    n integer NOT NULL,
    PRIMARY KEY (idx, term)
  ) WITH (fillfactor = 50);
  CREATE TABLE knowledge_codes (
    idx integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    code bit varying NOT NULL,
    PRIMARY KEY (idx, digest)
  );
  CREATE TABLE knowledge_vectors (
    idx integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL,
    floats bytea NOT NULL,
    PRIMARY KEY (idx, digest)
  );
  ALTER TABLE knowledge_vectors ALTER COLUMN bytes SET STORAGE EXTERNAL, ALTER COLUMN floats SET STORAGE EXTERNAL;
  `,
  },
]
