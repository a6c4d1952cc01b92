// Lookups by a bare id. Tables have the session first in their keys, so `routes` says in which session an id is.
//
// | kind         | id                                  |
// | ------------ | ----------------------------------- |
// | `run`        | the run's id                        |
// | `wait`       | the id of the approval, question, … |
// | `checkpoint` | the checkpoint's id                 |
// | `alias`      | JSON of `[owner, alias]`            |
// | `wire`       | JSON of `[owner, wire id, session]` |
//
// Clients choose wire ids, so several sessions of an owner may use the same one. A run whose wire id is its own id has no route of
// this kind. Files, instructions and grants have none either: they exist before they belong to a session, and are keyed by their id.

import type { AnyRecord } from '../../../domain/records/record.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Checkpoint } from '../../../domain/supervision/supervision.ts'

export interface Route {
  kind: 'run' | 'wait' | 'checkpoint' | 'alias' | 'wire'
  id: string
  session: string
}

export const aliasId = (owner: string, alias: string): string => JSON.stringify([owner, alias])

/** Without the session and the last bracket: what all routes of this wire id begin with. */
const wirePrefix = (owner: string, wireId: string): string => `${JSON.stringify([owner, wireId]).slice(0, -1)},`

/** From the first of these ids on, up to but without the second. */
export function wireIds(owner: string, wireId: string): [string, string] {
  const prefix = wirePrefix(owner, wireId)
  // The session follows in quotes, and `#` is the character after a quote.
  return [prefix, `${prefix}#`]
}

export const routesOfRun = ({ id, sessionId: session, owner, wireId }: RunRecord): Route[] => [
  { kind: 'run', id, session },
  ...(wireId === id
    ? []
    : [{ kind: 'wire' as const, id: `${wirePrefix(owner, wireId)}${JSON.stringify(session)}]`, session }]),
]

export const routeOf = (kind: Route['kind'], { id, sessionId }: AnyRecord | Checkpoint): Route => ({
  kind,
  id,
  session: sessionId,
})

export const routesOfSession = ({ id: session, owner, alias }: SessionRecord): Route[] =>
  alias === null ? [] : [{ kind: 'alias', id: aliasId(owner, alias), session }]

/** The session of an id, as an expression. */
export const sessionOfRoute = (kind: Route['kind'], id: string): string =>
  `(SELECT session FROM routes WHERE kind = '${kind}' AND id = ${id})`
