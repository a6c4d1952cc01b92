// Starts coding agents for sessions. `watched-hosts.ts` ends them with their sessions.

import { hasCode, ServerError } from '../../domain/errors.ts'
import { isOpen } from '../../domain/supervision/supervision.ts'
import type { Messenger } from '../messenger.ts'
import { refuseUnknownOwner } from '../sessions/may-command.ts'
import { activityEvent } from '../sessions/session-events.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import type { SessionParts, SupervisedSession } from '../sessions/take-step.ts'
import type { AllowedWorkspace } from '../workspace/allowed-workspace.ts'
import { codeOf } from './host-output.ts'
import type { Sandbox } from './sandbox.ts'
import { type Ended, type Host, type HostDeps, type HostEnd, type HostRequest, startHost } from './start-host.ts'
import { createWatchedHosts, type Farewell, type WatchedHosts, type WatchedHostsDeps } from './watched-hosts.ts'

export interface Spawner extends Pick<WatchedHosts, 'recover' | 'close'> {
  /** Throws `conflict` if this server starts no agents, `invalid_request`, `forbidden` (not a workspace, or one of another channel) and `limit`. */
  start(wanted: SpawnRequest): Promise<SupervisedSession>
  /** Throws what `start` would refuse. Starts nothing. */
  check(wanted: SpawnRequest): Promise<void>
}

export interface SpawnRequest {
  /** Becomes the owner of the session. */
  owner: string
  prompt: string
  /** Path or id of a workspace of the settings. */
  workspace: string
  /** Name of the host. Undefined: the one of the settings. */
  host?: string | undefined
  title?: string | undefined
  /** The channel that it is started from. It reports there, unless its workspace has a channel of its own: then that must be the same. */
  channelId?: string | undefined
}

export interface SpawnerDeps
  extends WatchedHostsDeps,
    Pick<SessionParts, 'operators' | 'ids'>,
    Pick<HostDeps, 'processes' | 'environment' | 'masked' | 'home'> {
  sessions: Pick<SupervisedSessions, 'get' | 'create' | 'checkCapacity' | 'interrupt' | 'list'>
  /** The host of the settings. Throws `config_invalid` if there is none. */
  host: () => Pick<HostRequest, 'launcher' | 'program'>
  extraArgs: readonly string[]
  /** Null: the host runs without one. */
  sandbox: () => Promise<Sandbox | null>
  findWorkspace: (asked: string) => AllowedWorkspace
  /** Makes and revokes the tokens of agents. */
  tokens: {
    mint(owner: string, workspace: string): Promise<{ id: string; token: string }>
    revoke(id: string): Promise<void>
  }
  /** The address of our MCP door. Null: this server has no port. */
  mcpUrl: () => string | null
  tell: Messenger['tell']
}

export function createSpawner(deps: SpawnerDeps): Spawner {
  const { sessions, takeStep, operators, tokens, tell, ids, logger } = deps
  const hosts = createWatchedHosts(deps)

  const noteCrash = (sessionId: string, crash: string, facts: Record<string, unknown>): Promise<unknown> =>
    takeStep(sessionId, ({ session, at }) =>
      isOpen(session.supervision)
        ? {
            supervision: { crash },
            events: [activityEvent(ids.uuid(), 'host_restarts', { ...facts, end: crash }, at)],
          }
        : {},
    ).catch((error: unknown) => logger.warn('a host could not be noted', { session_id: sessionId, error }))

  function launch(session: SupervisedSession, request: HostRequest): Host {
    const { id } = session
    return startHost(request, {
      ...deps,
      log: logger,
      // The newest output is kept in a file; the log shows what the agent itself reports.
      onOutput() {},
      onStart: ({ pid, respawn }) => {
        // The first start is told with the session's own.
        if (respawn === 0) return
        void takeStep(id, ({ at }) => ({ supervision: spawnedAs(pid, at) })).catch((error: unknown) =>
          logger.warn('it could not be written that a host has started again', { session_id: id, error }),
        )
      },
      onRespawn({ respawn, delayMs, ...ended }) {
        const how = wordsOf(ended)
        void noteCrash(id, how, { respawn, delay_ms: delayMs })
        tell(session, `The agent has crashed: ${how}\nIt starts again in ${delayMs / 1_000} s (new start ${respawn}).`)
      },
    })
  }

  /** Where and with what it starts. */
  async function prepare({ owner, prompt, workspace: asked, host: named, channelId: from }: SpawnRequest) {
    const mcpUrl = deps.mcpUrl()
    if (mcpUrl === null) throw new ServerError('conflict', 'This server has no port that an agent could connect to.')
    refuseUnknownOwner(operators, owner)
    const { launcher, program } = asRefusal(deps.host)
    if (named !== undefined && named !== launcher.name) {
      throw new ServerError(
        'invalid_request',
        `This server starts ${launcher.name}, not ${JSON.stringify(named)}. host_cli in quarterdeck.yaml says which.`,
      )
    }
    // Only whether this host can be started at all: nothing is written.
    const trial = { prompt, mcpUrl, agentToken: '', extraArgs: deps.extraArgs, file: (name: string) => name }
    asRefusal(() => launcher.launch(trial))
    const workspace = deps.findWorkspace(asked)
    const channelId = workspace.channelId ?? from
    if (from !== undefined && channelId !== from) {
      throw new ServerError('forbidden', 'This workspace belongs to another channel. Start the agent there.')
    }
    await sessions.checkCapacity(owner)
    return { mcpUrl, launcher, program, workspace, channelId }
  }

  async function start(wanted: SpawnRequest) {
    const { owner, prompt, title } = wanted
    const { mcpUrl, launcher, program, workspace, channelId } = await prepare(wanted)
    const { id: tokenId, token } = await tokens.mint(owner, workspace.path)
    try {
      const session = await sessions.create({
        workspaceRoot: workspace.path,
        owner,
        host: launcher.name,
        prompt,
        tokenId,
        title: title ?? workspace.label,
        channelId: channelId ?? null,
      })
      return await begin(session, {
        launcher,
        program,
        prompt,
        tokenId,
        agentToken: token,
        mcpUrl: `${mcpUrl}?session_id=${session.id}`,
      })
    } catch (error) {
      await tokens.revoke(tokenId).catch(() => {})
      throw error
    }
  }

  async function begin(
    session: SupervisedSession,
    {
      tokenId,
      ...request
    }: Pick<HostRequest, 'launcher' | 'program' | 'prompt' | 'agentToken' | 'mcpUrl'> & {
      tokenId: string
    },
  ): Promise<SupervisedSession> {
    const { id } = session
    const sandbox = await deps.sandbox()
    let host: Host
    try {
      if (hosts.isClosing) throw new ServerError('shutting_down', 'The server stops. Start the agent again later.')
      host = launch(session, {
        ...request,
        extraArgs: deps.extraArgs,
        sandbox,
        sessionId: id,
        workspace: session.supervision.workspaceRoot,
      })
    } catch (error) {
      await takeStep(id, () => ({ supervision: { status: 'terminated' } }))
      throw refusalOf(error)
    }
    hosts.watch(id, tokenId, { terminate: () => host.terminate(), gone: host.gone.then(farewellOf) })
    const { pid } = host
    if (pid === undefined) return session
    return (
      await takeStep(id, ({ at }) => ({
        supervision: spawnedAs(pid, at),
        events: [
          activityEvent(
            ids.uuid(),
            'host_started',
            { host: request.launcher.name, pid, sandboxed: sandbox !== null },
            at,
          ),
        ],
      }))
    ).session
  }

  return {
    start,
    async check(wanted) {
      await prepare(wanted)
    },
    recover: hosts.recover,
    close: hosts.close,
  }
}

const spawnedAs = (pid: number, startedAt: number) => ({ spawned: { pid, startedAt } })

/** How it ended, and why, in its own words. The one place that words it. */
const wordsOf = ({ end, lastWords }: Ended): string =>
  lastWords === null ? codeOf(end) : `${codeOf(end)}; its last words: ${lastWords}`

function farewellOf(gone: HostEnd): Farewell {
  const crash = wordsOf(gone)
  switch (gone.how) {
    case 'finished':
      return { reason: 'The agent has ended by itself.', crash: null }
    case 'terminated':
      return { reason: 'The agent was ended.', crash: null }
    case 'crashed':
      return { reason: `The agent has crashed after ${gone.respawns} new starts: ${crash}`, crash }
    case 'not_started':
      return { reason: `The agent could not be started: ${crash}`, crash }
  }
}

/** The server's settings, or the folder that was asked for, do not allow it. The server itself works, so it is not a failure. */
const refusalOf = (error: unknown): unknown =>
  hasCode(error, 'config_invalid')
    ? new ServerError('conflict', error.message, { details: { ...error.details }, cause: error })
    : error

function asRefusal<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw refusalOf(error)
  }
}
