import { isRecord } from '../../../domain/is-record.ts'
import { scopeOf } from '../../../http/auth/tokens/scopes.ts'
import type { OnRefused, RefusedRequest } from '../../../http/server/dispatch.ts'
import type { NoteRefused } from '../../../supervision/oversight/note-refused.ts'
import { callerOf } from './caller.ts'

/** Puts requests on record that would have decided, commanded or changed something, and were refused. */
export const noteRefusedRequests =
  (note: NoteRefused): OnRefused =>
  (refused) => {
    if (isOnRecord(refused)) void noted(note, refused)
  }

function isOnRecord({ route, principal, failure }: RefusedRequest): boolean {
  // Anybody may knock without a credential. Only what needs a person's word is worth an entry then.
  if (principal === null) return route.role === 'operator' || scopeOf(route) === 'decide'
  // The console asks for a passkey only where the server wants one, so its first try does not count as an attempt.
  return !(failure.code === 'passkey_required' && principal.isConsole === true && principal.proof === undefined)
}

async function noted(note: NoteRefused, refused: RefusedRequest): Promise<void> {
  const { route, params, principal, via, failure, sessionId } = refused
  const by: ReturnType<typeof callerOf> =
    principal === null ? { user: 'nobody', role: 'anyone', via } : callerOf({ principal, via })
  const isSession = route.path.startsWith('/sessions/:id')
  const record = params.id === undefined || isSession ? {} : { record: params.id.slice(0, 64) }
  await note({
    by: by.user,
    via: by.via,
    credential: by.credential,
    what: 'request',
    tried: `${route.method} ${route.path}`,
    why: failure.code,
    session: sessionId ?? (isSession ? (params.id?.slice(0, 64) ?? null) : null),
    details: {
      ...record,
      ...wanted(await refused.body?.catch(() => null)),
      role: principal?.role === 'agent' ? 'agent' : by.role,
      reason: failure.message.slice(0, 500),
    },
  })
}

/** What the body asks for, as far as that is a word of ours. What people write is not put on record. */
function wanted(body: unknown): Record<string, string> {
  if (!isRecord(body)) return {}
  const { decision, resume } = body
  if (Array.isArray(resume)) {
    const ids = resume.flatMap((one) => (isRecord(one) && typeof one.interruptId === 'string' ? [one.interruptId] : []))
    return ids.length === 0 ? {} : { record: ids.join(' ').slice(0, 200) }
  }
  return typeof decision === 'string' && /^[a-z]{1,20}$/.test(decision) ? { decision } : {}
}
