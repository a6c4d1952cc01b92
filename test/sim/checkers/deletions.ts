// A deleted session leaves a tombstone and nothing else.

import type { Checker } from '../evidence.ts'

export const deletions: Checker = {
  name: 'deletions',
  check: ({ history, sessions }) =>
    history.deletions.flatMap((id) => {
      const session = sessions.get(id)
      if (session === undefined) return [`session ${id} is gone without a tombstone`]
      const { status, stored, messages, runs } = session
      const left = stored.length + messages.length + runs.length
      return status === 'terminated' && left === 0
        ? []
        : [`session ${id} was deleted; it is ${status}, ${left} rows are left`]
    }),
}
