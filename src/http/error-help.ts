// What each error code means and what to do about it. docs/look-up/errors.md and `quarterdeck explain` are made from it. A server does not load it.

import type { ErrorCode } from '../domain/errors.ts'

export interface ErrorHelp {
  /** When it happens. */
  means: string
  /** What the reader can do. */
  todo: string
  /** A page that says more, from the folder of the docs: its path, and a heading if one is meant. */
  page?: string
}

type Helps = Partial<Record<ErrorCode, ErrorHelp>>

const request = {
  invalid_request: {
    means: 'A field or header is wrong.',
    todo: 'Correct what `errors` or `detail` names.',
  },
  malformed_json: {
    means: 'The body is not valid JSON, too deep, or has a forbidden or doubled key.',
    todo: 'Send one valid JSON object.',
  },
  malformed_id: {
    means: 'An id is not a UUID, a ULID or a known name.',
    todo: 'Use an id of the server.',
  },
  unsupported_media_type: {
    means: 'The content type is wrong, or the body is compressed.',
    todo: 'Send `Content-Type: application/json`, uncompressed.',
  },
  not_acceptable: {
    means: 'The route has none of the types in `Accept`.',
    todo: 'Ask for another type.',
  },
  body_too_large: {
    means: 'Too many bytes (without files), JSON values or new messages.',
    todo: 'Send less than `max_bytes`, `max_values` or `max_messages`.',
  },
  file_too_large: {
    means: 'A file, or all of a request, are too large.',
    todo: 'At most 10 MB as base64, 50 MB as multipart, 100 MB in all.',
  },
  too_many_files: {
    means: 'A message has more than 10 files.',
    todo: 'Use several messages.',
  },
  file_unreadable: {
    means: 'A file is damaged, empty, locked or too large to read.',
    todo: 'Fix the file that `detail` names.',
    page: 'do/work-with-files.md',
  },
  path_violation: {
    means: 'A path leads out of the workspace.',
    todo: 'Send a relative path as `detail` says.',
  },
  invalid_diff: {
    means: 'A diff is malformed, over 5 MB, or changes nothing or another file.',
    todo: 'Send one patch for one file, or its whole new text.',
  },
  header_too_large: {
    means: 'The request line and headers are over 16 KiB.',
    todo: 'Send shorter headers.',
  },
  request_timeout: {
    means: 'The headers or the body arrived too slowly.',
    todo: 'Send it again, faster.',
  },
  method_not_allowed: {
    means: 'The path does not have this method.',
    todo: 'Use one of the methods in `Allow`.',
  },
  route_not_found: {
    means: 'There is no such path.',
    todo: 'Look at `near`, or the list.',
    page: 'look-up/http.md',
  },
  door_closed: {
    means: 'The route belongs to a closed door.',
    todo: 'Open the door with `--protocol`.',
    page: 'look-up/doors.md',
  },
  route_moved: {
    means: 'This transport is not served.',
    todo: 'Use the path that `detail` names.',
  },
  not_available_yet: {
    means: 'An item at `/v1/responses` belongs to a tool that is not a function.',
    todo: 'Leave the item out.',
  },
} satisfies Helps

const caller = {
  unauthorized: {
    means: 'The token is missing or wrong. `reason` says which check failed, such as `expired`.',
    todo: 'Send `Authorization: Bearer` with a valid token.',
    page: 'do/let-people-sign-in.md',
  },
  forbidden: {
    means: "The token's role or scopes are not enough; `scope` is the missing one.",
    todo: 'Send the token that `detail` names.',
  },
  host_not_allowed: {
    means: 'The server does not answer for the name in `Host`.',
    todo: 'Add the name with `--allowed-hosts`.',
  },
  origin_not_allowed: {
    means: 'The page is from an origin that is not allowed.',
    todo: 'Start the server with `--cors-origins`.',
  },
  passphrase_required: {
    means: "A decision over the local socket needs the operator's passphrase.",
    todo: 'Use `quarterdeck ctl` at a terminal.',
  },
  passphrase_wrong: {
    means: 'The passphrase is wrong.',
    todo: 'Try again.',
  },
  code_invalid: {
    means: 'The sign-in code is wrong, used, or older than five minutes.',
    todo: "Press Enter in the server's terminal for a new link.",
  },
  passkey_required: {
    means: 'This decision needs one of your passkeys; it stays pending.',
    todo: 'Open `url`, or ask somebody with a passkey to add your device.',
    page: 'do/let-people-sign-in.md',
  },
} satisfies Helps

const missing = {
  agent_not_found: { means: 'No agent has this name.', todo: 'Use a name that `detail` lists.' },
  session_not_found: {
    means: 'There is no such session, or it is not yours.',
    todo: 'Start a new session.',
  },
  message_not_found: {
    means: 'There is no such answer, or it is not in a session of yours.',
    todo: 'Send the `message_id` of an answer.',
  },
  run_not_found: { means: 'There is no such run, or it is not yours.', todo: 'Check the id.' },
  approval_not_found: {
    means: 'There is no such approval, or it is not yours.',
    todo: 'List them with `GET /approvals`.',
  },
  grant_not_found: {
    means: 'There is no such grant, or it is revoked.',
    todo: 'List them with `GET /grants`.',
  },
  record_not_found: {
    means: 'There is no such prompt, alert, wait, checkpoint, step, channel or subscription for you.',
    todo: 'List them with `GET /inbox`, `GET /channels` or `GET /push/subscriptions`.',
  },
  token_not_found: {
    means: 'There is no such token, or it is revoked.',
    todo: 'List them with `GET /tokens`.',
  },
  command_not_found: {
    means: 'No command has this alias.',
    todo: 'Use one in `known`, or add it to `commands`.',
  },
  tool_call_not_found: {
    means: 'There is no such tool execution, or it is not yours.',
    todo: 'Use the `execution_id` that you got.',
  },
  file_not_found: {
    means: 'There is no such file, or it is not yours.',
    todo: 'Upload it with `POST /files`. In a workspace: check the path.',
  },
  events_gone: {
    means: 'The events after this id were purged or lost.',
    todo: 'Read the `snapshot`, then continue from there.',
  },
  session_expired: {
    means: 'The session was idle for too long.',
    todo: 'Start a new session.',
  },
  approval_expired: {
    means: 'Nobody answered in time: the call is refused.',
    todo: 'Ask the agent again.',
  },
  tool_call_expired: {
    means: 'The result of a client tool came too late.',
    todo: "Answer sooner, or raise the tool's `timeout`.",
  },
} satisfies Helps

const conflicts = {
  run_in_progress: {
    means: 'The session is busy and the request said `reject`.',
    todo: 'Wait, or send `X-On-Busy: queue` or `interrupt`.',
  },
  approval_pending: {
    means: 'The session waits for a decision, or for the result of a client tool.',
    todo: 'Answer the approval or send the result first.',
    page: 'do/ask-before-a-tool-runs.md',
  },
  approval_decided: {
    means: 'Somebody answered first; `detail` says who.',
    todo: 'Nothing: the first answer counts.',
  },
  approval_changed: {
    means: 'The tool, its rules or your digest differ from what was asked.',
    todo: 'Decide on the approval in `approval_id`.',
  },
  not_approved: {
    means: 'Nobody has approved this change.',
    todo: 'Ask for an approval, and wait.',
  },
  already_consumed: {
    means: 'This approval was used; it counts once.',
    todo: 'Ask for a new approval.',
  },
  tool_call_answered: {
    means: 'The server already has this result.',
    todo: 'Nothing: the first result counts.',
  },
  session_supervised: {
    means: 'An agent elsewhere works in this session.',
    todo: 'Send an instruction with `POST /sessions/{id}/steer`.',
  },
  session_paused: {
    means: 'An operator has paused this supervised session.',
    todo: 'Resume it with `POST /sessions/{id}/resume`.',
  },
  session_ended: {
    means: 'The supervised session has ended.',
    todo: 'Start a new one.',
  },
  record_decided: {
    means: 'Somebody answered first; see the details.',
    todo: 'Nothing: the first answer counts.',
  },
  operator_unreachable: {
    means: 'The channel to the operator fails; the question is kept.',
    todo: 'Answer in the console or with `quarterdeck ctl`; fix the channel.',
    page: 'do/find-out-what-is-wrong.md',
  },
  no_channel: {
    means: 'The session reports to no chat channel.',
    todo: 'Set `slack.channel_id`, or name one with `?channel_id=`.',
  },
  restore_unconfirmed: {
    means: 'Nobody has confirmed exactly these changes of files.',
    todo: 'Look at the lists, then send `digest` as `confirm`.',
  },
  idempotency_mismatch: {
    means: 'The same `Idempotency-Key` came with another body.',
    todo: 'Use a new key for a new request.',
  },
  run_fenced: {
    means: 'Another process has taken over the run.',
    todo: "Read the run's events from the server.",
  },
  patch_conflict: {
    means: 'The file is not what the diff was made for.',
    todo: 'Read the file again and ask with a new diff.',
  },
  conflict: {
    means: 'Somebody else changed or answered it first.',
    todo: 'Read its state, then decide again.',
  },
} satisfies Helps

const limits = {
  queue_full: { means: "The session's queue is full.", todo: 'Wait until a run ends.' },
  too_many_runs: {
    means: 'The server is at its limit of active runs.',
    todo: 'Try again after `Retry-After`.',
  },
  too_many_sessions: {
    means: 'The server is at its limit of sessions.',
    todo: 'Delete sessions, or raise `limits.sessions`.',
  },
  too_many_uploads: {
    means: 'This user has too many uploads that were never sent.',
    todo: 'Send them, or wait. The limit is `files.unsent_bytes`.',
  },
  quota_exceeded: {
    means: "This user has used up the day's `limit`: `used` of `allowed`.",
    todo: 'Wait until `resets_at`.',
  },
  limit: {
    means: 'Too many supervised sessions, questions, instructions, subscriptions or checks at once.',
    todo: 'End, answer or remove some first.',
  },
  rate_limited: {
    means: 'Too many requests, streams or failed logins in a short time.',
    todo: 'Try again after `Retry-After`.',
  },
} satisfies Helps

const run = {
  budget_exceeded: {
    means: 'The run reached a limit on steps, tokens, cost, calls, time or length.',
    todo: 'Ask for less, or raise the limit in `agent.yaml`.',
    page: 'look-up/agent-yaml.md',
  },
  interrupted: {
    means: 'The server stopped in the middle of the run, or of an MCP request.',
    todo: 'Send it again.',
  },
  needs_review: {
    means: 'The server stopped during a call with side effects, or twice at one place.',
    todo: 'Check what happened, then continue.',
  },
  cancelled: {
    means: 'Somebody stopped the run.',
    todo: 'Start another run.',
  },
  tool_failed: {
    means: 'A tool failed that the run needs.',
    todo: 'Look at its error in the events.',
  },
  tool_unavailable: {
    means: 'The tool of an approval is down or gone.',
    todo: 'Approve when it is there again, or reject.',
  },
  invalid_answer: {
    means: "The model's answer does not match the agent's response format.",
    todo: 'Try again, or relax the format.',
  },
} satisfies Helps

const model = {
  model_auth_failed: {
    means: 'The provider refused the API key.',
    todo: 'Set a valid key.',
    page: 'do/choose-a-model.md',
  },
  model_not_found: {
    means: 'The provider has no model with this name.',
    todo: 'Correct `model.name`.',
    page: 'do/choose-a-model.md',
  },
  model_rate_limited: {
    means: 'The provider gets too many requests from you.',
    todo: 'Try again after `Retry-After`.',
  },
  model_unreachable: {
    means: 'The provider cannot be reached.',
    todo: 'Check network, proxy and `base_url`.',
  },
  model_timeout: {
    means: 'The model did not answer in time.',
    todo: 'Try again, or raise the timeout.',
  },
  model_stream_dropped: { means: "The provider's answer broke off.", todo: 'Try again.' },
  host_failed: {
    means: 'The coding agent’s program could not be started, wants a login, or has ended.',
    todo: 'Do what the message says, then send the message again: the conversation goes on.',
  },
  host_limit: {
    means: 'The program of the agent has reached a limit of its own.',
    todo: 'Send a message to go on.',
  },
  model_refused: { means: 'The provider declined to answer.', todo: 'Rephrase the message.' },
  model_context_overflow: {
    means: 'The conversation is too long for the model.',
    todo: 'Start a new session, or lower `context.max_messages`.',
  },
  model_bad_request: {
    means: 'The provider did not understand our request.',
    todo: 'Check the model settings; the log has the reason.',
  },
  model_failed: {
    means: 'The provider failed in another way.',
    todo: 'Try again; the log has the reason.',
  },
} satisfies Helps

const server = {
  config_invalid: {
    means: 'A setting or file of the server is not valid.',
    todo: 'Correct what `detail` names.',
  },
  storage_full: {
    means: 'The disk is full; nothing was accepted.',
    todo: 'Free some space; the server recovers by itself.',
  },
  storage_failed: {
    means: 'The store does not answer, or a file cannot be written.',
    todo: 'Try again; look at the log.',
  },
  data_dir_locked: {
    means: 'Another server uses the data directory or database.',
    todo: 'Stop that server, or use another `--data-dir`.',
  },
  data_dir_newer: {
    means: 'A newer version wrote the data directory or changed the database.',
    todo: 'Update the server; `detail` says to which version.',
    page: 'do/upgrade.md',
  },
  data_dir_older: {
    means: 'An older version wrote the data, and this command cannot upgrade it.',
    todo: 'Start the server once, or run `quarterdeck migrate`, as `detail` says.',
    page: 'do/upgrade.md',
  },
  data_dir_damaged: {
    means: 'The database is damaged; the start ends with code 65.',
    todo: 'Restore it from a backup.',
    page: 'do/back-up-and-restore.md',
  },
  identity_unavailable: {
    means: 'The keys of your identity provider cannot be fetched.',
    todo: 'Try again after `Retry-After`.',
  },
  shutting_down: { means: 'The server is stopping.', todo: 'Try again after `Retry-After`.' },
  not_ready: { means: 'The server is starting.', todo: 'Try again after `Retry-After`.' },
  internal_error: {
    means: 'A bug in Quarterdeck.',
    todo: 'Report it with the log lines of its `correlation_id`.',
  },
} satisfies Helps

/** The codes of one kind, in the order of the page. */
export const errorGroups: readonly { title: string; help: Helps }[] = [
  { title: 'The request', help: request },
  { title: 'Who is asking', help: caller },
  { title: 'What was not found', help: missing },
  { title: 'Conflicts', help: conflicts },
  { title: 'Limits', help: limits },
  { title: 'Inside a run', help: run },
  { title: 'The model', help: model },
  { title: 'The server', help: server },
]

/** A code without help does not compile. */
export const errorHelp: Readonly<Record<ErrorCode, ErrorHelp>> = {
  ...request,
  ...caller,
  ...missing,
  ...conflicts,
  ...limits,
  ...run,
  ...model,
  ...server,
}
