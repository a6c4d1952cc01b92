// What the rooms need to know of the records that they show, and how they show them.

import type { PersonRecord } from '../../domain/records/record.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { ReadDiff } from '../../supervision/approvals/read-diff.ts'
import { riskOf } from '../../supervision/inbox/urgency.ts'
import { describe } from '../../supervision/records/describe-record.ts'
import type { ReadScenes } from '../../supervision/records/record-scenes.ts'
import type { RecordView } from '../../supervision/records/record-view.ts'
import { isWorkspaceSession } from '../../supervision/sessions/workspace-session.ts'
import type { RecordLookup } from '../operator.ts'
import type { SlackMessage } from './cards/blocks.ts'
import type { CardLook, CardSession, CardState } from './cards/card.ts'
import { newsOf, renderCard } from './cards/render-card.ts'
import type { SlackDeps } from './create-slack.ts'

export interface SlackLookup extends Pick<RecordLookup, 'find'> {
  /** Null: it is gone. */
  session(id: string): Promise<SessionRecord | null>
  readDiff: ReadDiff
  readScenes: ReadScenes
  /** What waits for a person in all sessions, newest first. */
  waiting(limit: number): Promise<readonly PersonRecord[]>
  /** What people call the workspace at this path. */
  workspaceName(path: string): string
  /** Address in the console: of a record, or of the inbox if the id is null. Null: there is none. */
  link(recordId: string | null): string | null
}

/** How things look in all rooms. */
export function createCardLooks({ lookup, settings: { detail }, operators, personOf, buttons }: SlackDeps) {
  const operatorOf = (owner: string) => operators.find(({ name }) => name === personOf(owner))
  function lookAt(room: string, wait: PersonRecord, session: SessionRecord, state: CardState): CardLook {
    const digest = wait.wait === 'approval' ? wait.digest : null
    // Every operator may answer our own agents, so nobody is named.
    const owner = session.supervision === undefined ? undefined : operatorOf(wait.owner)
    return {
      detail,
      link: lookup.link(wait.id),
      // What is low waits in its thread for whoever looks.
      mention: riskOf(wait) === 'low' ? null : (owner?.slack ?? null),
      state,
      buttonValue: (action) => buttons.value({ room, recordId: wait.id, digest, action }),
    }
  }

  function sessionLook(session: SessionRecord): CardSession {
    const { supervision } = session
    return {
      id: session.id,
      agent: supervision?.host ?? session.agent,
      folder: supervision === undefined ? null : lookup.workspaceName(supervision.workspaceRoot),
      title: supervision?.title ?? null,
      isWorkspace: isWorkspaceSession(session),
      owner: session.owner,
      status: supervision?.status ?? session.status,
      prompt: supervision?.prompt ?? null,
      progress: supervision?.progressSnapshot ?? null,
    }
  }

  async function view(wait: PersonRecord, session: SessionRecord): Promise<RecordView> {
    const proposed = wait.wait === 'approval' ? await lookup.readDiff(wait) : null
    const sceneOf = await lookup.readScenes([wait])
    return describe(wait, { ...sceneOf(wait), ...sessionLook(session), diff: proposed?.shown ?? null })
  }

  return {
    root: { detail, link: lookup.link(null) },
    session: sessionLook,
    view,
    card: async (room: string, wait: PersonRecord, session: SessionRecord, state: CardState): Promise<SlackMessage> =>
      renderCard(await view(wait, session), lookAt(room, wait, session, state)),
    /** See `newsOf`. */
    news: async (wait: PersonRecord, session: SessionRecord) =>
      newsOf(wait, await view(wait, session), lookup.link(wait.id)),
  }
}

export type CardLooks = ReturnType<typeof createCardLooks>
