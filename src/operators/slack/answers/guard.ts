// Who may answer and command in Slack. Everything that people do there passes this first.

import type { Caller } from '../../../domain/supervision/decision.ts'
import type { SlackAnswersDeps } from './create-slack-answers.ts'
import type { Sender } from './payloads.ts'

/** Why somebody was refused. */
export type Refusal =
  | 'other_team'
  | 'other_room'
  | 'no_operator'
  /** A button that this server did not make, or that was made for something else. */
  | 'forged'

/** What they tried. */
interface Attempt {
  from: Sender
  what: 'button' | 'reply' | 'command'
  /** The action or the verb, as far as it is one of ours. Words of people are not put on record. */
  tried: string
  sessionId?: string
  recordId?: string
}

type GuardDeps = Pick<SlackAnswersDeps, 'people' | 'teamId' | 'rooms' | 'noteRefused'>

export function createGuard({ people, teamId, rooms, noteRefused }: GuardDeps) {
  const names = new Map(people.flatMap(({ name, slack }) => (slack === null ? [] : [[slack, name] as const])))

  return {
    /** The operator behind a Slack user, or why there is none. */
    async check({ user, teams, room }: Sender): Promise<{ caller: Caller } | { refusal: Refusal }> {
      const ours = await teamId()
      const isOurs = ours !== '' && teams.length > 0 && teams.every((id) => id === ours)
      if (!isOurs) return { refusal: 'other_team' }
      if (!rooms.includes(room)) return { refusal: 'other_room' }
      const name = names.get(user)
      if (name === undefined) return { refusal: 'no_operator' }
      return { caller: { user: name, role: 'operator', via: 'slack', credential: user } }
    },

    /** Puts it on record: in the log and in the audit trail. Never throws. */
    refused: (
      { from: { user, teams, room }, what, tried, sessionId, recordId }: Attempt,
      why: Refusal,
    ): Promise<void> =>
      noteRefused({
        // Not a name of ours: the prefix keeps it apart from those of operators.
        by: `slack:${user}`,
        via: 'slack',
        what,
        tried,
        why,
        session: sessionId,
        details: { room, team: teams.join(' '), ...(recordId === undefined ? {} : { record: recordId }) },
      }),
  }
}

export type Guard = ReturnType<typeof createGuard>
