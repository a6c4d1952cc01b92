// What belongs to a workspace and to no agent in it: a policy that waits for a yes, tasks, and commands of operators. It is kept in a
// session of its own for each owner, which rests: no list shows it, no limit counts it, no agent takes it up, and nobody waits for it.

import { hasCode, sessionNotFound } from '../../domain/errors.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import type { OpenSession } from './open-session.ts'
import { isSupervisedSession, type SupervisedSession, type TakeStep } from './take-step.ts'

/** Stands where sessions name the program of their agent. */
export const WORKSPACE_HOST = 'workspace'

export type WorkspaceSession = (
  owner: string,
  workspace: { path: string; channelId: string | null },
) => Promise<SupervisedSession>

export const isWorkspaceSession = ({ unlisted, supervision }: SessionRecord): boolean =>
  unlisted && supervision !== undefined

interface WorkspaceSessionDeps {
  store: Pick<Store, 'sessions'>
  openSession: OpenSession
  takeStep: TakeStep
  /** See `Supervision.place`. */
  place: string | null
  /** What the records name as their agent. */
  host: string
}

/** Opens it the first time. */
export function createWorkspaceSession({
  store,
  openSession,
  takeStep,
  place,
  host,
}: WorkspaceSessionDeps): WorkspaceSession {
  async function find(id: string): Promise<SupervisedSession | null> {
    const found = await store.sessions.get(id)
    return isSupervisedSession(found) ? found : null
  }

  /** Null: it was deleted. Nothing gets the id of a deleted session. */
  async function findOrOpen(
    id: string,
    owner: string,
    { path: workspaceRoot, channelId }: Parameters<WorkspaceSession>[1],
  ): Promise<SupervisedSession | null> {
    const found = await find(id)
    // The settings may have given the workspace to another channel since, or its agents report to another one.
    if (found !== null && channelId !== null && found.supervision.channelId !== channelId) {
      return (await takeStep(id, () => ({ supervision: { channelId } }))).session
    }
    if (found !== null) return found
    const values = { workspaceRoot, channelId, host, tokenId: '', mode: 'hybrid' } as const
    try {
      return await openSession(owner, { ...values, status: 'interrupted' }, id, { unlisted: true })
    } catch (error) {
      if (hasCode(error, 'conflict')) return await find(id)
      throw error
    }
  }

  return async (owner, workspace) => {
    for (let n = 0; ; n += 1) {
      const session = await findOrOpen(idOf(['workspace', place, owner, workspace.path, n]), owner, workspace)
      if (session !== null) return session
    }
  }
}

/** For records about an MCP server, the same way. It has no folder, so every replica opens the same one. */
export const createServerSession =
  (deps: Omit<WorkspaceSessionDeps, 'place' | 'host'>) =>
  (owner: string, { name, url }: { name: string; url: string }): Promise<SupervisedSession> =>
    createWorkspaceSession({ ...deps, place: null, host: name })(owner, { path: `mcp:${name}:${url}`, channelId: null })

/** Always the same for the same owner and folder, so that two that open it at once open one. A UUID of the kind that everybody makes as they like. */
function idOf(what: readonly unknown[]): string {
  const hex = sha256(JSON.stringify(what))
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}

/** Throws `session_not_found`: what stands for a workspace has no agent that could be commanded. */
export function refuseWorkspace(session: SessionRecord): void {
  if (isWorkspaceSession(session)) throw sessionNotFound(session.id)
}
