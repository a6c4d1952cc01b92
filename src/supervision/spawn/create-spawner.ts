// Starts coding agents for operators. A started agent is a session whose first run has the prompt: any host that we know, in a workspace of
// the settings. From there on it is like every other hosted agent.

import type { HostAgent } from '../../domain/agent/agent.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import type { RunInput } from '../../domain/session/run.ts'
import type { Runs } from '../../engine/ports/runs.ts'
import { refuseUnknownOwner } from '../sessions/may-command.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import { about, type SessionParts, type SupervisedSession } from '../sessions/take-step.ts'
import type { AllowedWorkspace } from '../workspace/allowed-workspace.ts'
import type { Lacks } from './lacks.ts'

export interface Spawner {
  /** Throws `conflict` if the agent cannot be started here, `invalid_request`, `forbidden` (not a workspace, or one of another channel) and `limit`. */
  start(wanted: SpawnRequest): Promise<SupervisedSession>
  /** Throws what `start` would refuse. Starts nothing. */
  check(wanted: SpawnRequest): Promise<void>
  /** A hosted agent that rests hears at once what its operator has sent it. One that works hears it after that, one elsewhere with its next call. */
  wake(sessionId: string): Promise<void>
}

export interface SpawnRequest {
  /** Becomes the owner of the session. */
  owner: string
  prompt: string
  /** Path or id of a workspace of the settings. */
  workspace: string
  /** Name of the host. Undefined: the one of the settings, or the only one that is installed. */
  host?: string | undefined
  title?: string | undefined
  /** The channel that it is started from. It reports there, unless its workspace has a channel of its own: then that must be the same. */
  channelId?: string | undefined
}

export interface SpawnerDeps extends Pick<SessionParts, 'operators' | 'takeStep' | 'ids'> {
  sessions: Pick<SupervisedSessions, 'get' | 'checkCapacity'>
  /** See `startedAgents`. */
  agents: readonly HostAgent[]
  /** The name of the host that is started where nobody says which. Null: the settings name none. */
  usual: string | null
  lacks: Lacks
  findWorkspace: (asked: string) => AllowedWorkspace
  runs: Pick<Runs, 'start'>
}

const nothingNew: RunInput = { messages: [], instructions: [], context: [], clientTools: [] }

export function createSpawner(deps: SpawnerDeps): Spawner {
  const { sessions, takeStep, operators, agents, usual, lacks, runs, ids } = deps

  async function agentFor(named: string | undefined): Promise<HostAgent> {
    const asked = named ?? usual
    if (asked === null) return onlyOne()
    const agent = agents.find(({ host }) => host.name === asked)
    if (agent === undefined) {
      const known = agents.map(({ host }) => host.name).join(', ')
      throw new ServerError('invalid_request', `There is no host ${JSON.stringify(asked)}. This server knows ${known}.`)
    }
    const lack = await lacks(agent.host)
    if (lack !== null)
      throw new ServerError(
        'conflict',
        lack.command === null ? lack.problem : `${lack.problem} Install it with: ${lack.command}`,
      )
    return agent
  }

  async function onlyOne(): Promise<HostAgent> {
    const found = await Promise.all(agents.map(async (agent) => ((await lacks(agent.host)) === null ? [agent] : [])))
    const [only, ...others] = found.flat()
    // It says what to install.
    if (only === undefined) return agentFor(agents[0]?.host.name)
    if (others.length === 0) return only
    throw new ServerError(
      'invalid_request',
      `Say which agent: ${[only, ...others].map(({ host }) => host.name).join(', ')}. host_cli in quarterdeck.yaml names the usual one.`,
    )
  }

  /** Where and with what it starts. */
  async function prepare({ owner, workspace: asked, host, channelId: from }: SpawnRequest) {
    refuseUnknownOwner(operators, owner)
    const workspace = deps.findWorkspace(asked)
    const channelId = workspace.channelId ?? from
    if (from !== undefined && channelId !== from) {
      throw new ServerError('forbidden', 'This workspace belongs to another channel. Start the agent there.')
    }
    const agent = await agentFor(host)
    await sessions.checkCapacity(owner)
    return { agent, workspace, channelId: channelId ?? null }
  }

  return {
    async start(wanted) {
      const { owner, prompt, title } = wanted
      const { agent, workspace, channelId } = await prepare(wanted)
      const started = { workspaceRoot: workspace.path, channelId, title: title ?? workspace.label, prompt }
      const { session } = await runs.start({
        owner,
        agent: agent.name,
        session: { create: { id: ids.uuid(), started } },
        input: { ...nothingNew, messages: [{ id: ids.uuid(), role: 'user', content: prompt }] },
        origin: 'background',
      })
      const details = { what: 'opened', workspace: workspace.path, host: agent.host.name }
      return (await takeStep(session.id, (now) => ({ audit: [about(now.session, now.at, owner, details)] }))).session
    },
    async check(wanted) {
      await prepare(wanted)
    },
    async wake(sessionId) {
      const session = await sessions.get(sessionId)
      if (session.supervision.hosted === undefined) return
      try {
        await runs.start({
          owner: session.owner,
          agent: null,
          session: { existing: session },
          input: nothingNew,
          origin: 'background',
          onBusy: 'queue',
        })
      } catch (error) {
        if (!hasCode(error, 'approval_pending', 'session_paused')) throw error
      }
    },
  }
}
