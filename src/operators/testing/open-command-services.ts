// The commands of a chat over the real services of agents elsewhere.

import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startedAgents } from '../../config/agent/started-agents.ts'
import { agentDefaults } from '../../config/source/load-context.ts'
import { createSystemClock } from '../../domain/clock.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { HostWork } from '../../engine/ports/host-work.ts'
import { openEngine } from '../../engine/testing/open-engine.ts'
import { createApprovals } from '../../supervision/approvals/create-approvals.ts'
import { createCheckpoints } from '../../supervision/checkpoints/create-checkpoints.ts'
import { createSessionCheckpoints } from '../../supervision/checkpoints/session-checkpoints.ts'
import { createSessionCommands } from '../../supervision/commands/session-commands.ts'
import { createInbox } from '../../supervision/inbox/inbox.ts'
import { createOversight } from '../../supervision/oversight/oversight.ts'
import { createRecords } from '../../supervision/records/records.ts'
import { createWhileWorking } from '../../supervision/sessions/while-working.ts'
import { createSpawner } from '../../supervision/spawn/create-spawner.ts'
import { createStalls } from '../../supervision/stalls/create-stalls.ts'
import { agentIn, openSupervision, type SupervisionOptions } from '../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../supervision/testing/workspace.ts'
import { protectedPath } from '../../supervision/workspace/protected-path.ts'
import { createProcessGroups } from '../../tools/process/process-groups.ts'
import type { Answer } from '../commands/answer.ts'
import type { CommandContext, CommandServices } from '../commands/command-services.ts'
import { runCommand } from '../commands/run-command.ts'

export const annOnSlack: Caller = { user: 'ann', role: 'operator', via: 'slack', credential: 'U0ANN' }
export const eveOnSlack: Caller = { user: 'eve', role: 'operator', via: 'slack', credential: 'U0EVE' }

const MOST_OPEN = 10

/** A program that works until it is stopped. */
const works: HostWork = {
  work: ({ scope: { signal } }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  isHeldElsewhere: () => false,
}

/** Ann's agents report to the channel C1 unless a test says otherwise. Sessions without a channel belong to C0. */
export function openCommandServices(options: SupervisionOptions = {}) {
  const opened = openSupervision({ maxOpen: MOST_OPEN, ...options })
  const { parts, store, log, feed, clock, takeStep, logger } = opened
  const root = makeWorkspace({})
  const real = createSystemClock()
  const processes = createProcessGroups({ clock: real, process: new EventEmitter() })
  const shared = { ...parts, whileWorking: createWhileWorking({ takeStep, logger }) }
  const sh = (alias: string, script: string) =>
    [alias, { alias, argv: ['sh', '-c', script], program: '/bin/sh' }] as const
  const programs = new Map([
    sh('greet', 'echo hello'),
    sh('quiet', 'exit 3'),
    sh('chatty', 'seq 1 100'),
    sh('odd', "printf 'a\\342\\200\\256b'"),
  ])
  const commands = createSessionCommands({
    ...{ ...shared, commands: programs, processes, clock: real },
    environment: { PATH: '/usr/bin:/bin' },
  })
  const workspaceOf = { shop: null, own: 'C1', other: 'C2' } as Record<string, string | null>
  const agents = startedAgents({ hostCli: '/opt/own', hostCliArgs: [] }, agentDefaults)
  const own = openEngine({ store, hosted: agents, hostWork: works })
  const spawner = createSpawner({
    ...parts,
    agents,
    usual: 'custom',
    lacks: async ({ name }) => (name === 'codex' ? { problem: 'It is missing.', command: 'npm install codex' } : null),
    findWorkspace: (asked) => ({
      path: root,
      id: asked,
      channelId: workspaceOf[asked] ?? null,
      label: null,
    }),
    runs: own.engine.runs,
  })
  onTestFinished(async () => {
    await commands.close()
    await own.engine.drain(0)
    await own.engine.close()
    await own.log.close()
  })
  const services: CommandServices = {
    sessions: parts.sessions,
    stalls: createStalls({
      ...{ ...parts, records: createRecords({ waits: store.waits, log }), push: async () => null },
      settings: { enabled: true, inactivityMs: 1, escalationMs: 1, maxRetries: 3, nudgeMessage: '' },
    }),
    checkpoints: createSessionCheckpoints({
      ...shared,
      jobs: createCheckpoints({
        folder: join(makeWorkspace({}), 'checkpoints'),
        excluded: [],
        isProtected: (path) => protectedPath(path) !== null,
      }),
    }),
    commands,
    spawner,
    inbox: createInbox({ store, log, feed, clock }),
    // Listing and revoking need no engine.
    approvals: createApprovals({
      ...{ ...parts, store, log, clock, logger, agents: [], answerAgent: null },
      ...{ rules: Object.create(null), waits: Object.create(null), stepUp: Object.create(null) },
    }),
    // What commands look at needs no engine.
    oversight: createOversight({ engine: Object.create(null), store, log, clock }),
    aliases: [...programs.keys()],
    workspaces: [],
    defaultChannelId: 'C0',
    clock: { now: clock.now, mono: real.mono, soon: real.soon },
    logger,
  }
  let windows = 0

  return {
    ...opened,
    services,
    /** A session of an agent of Ann's, and its workspace. */
    async open(files: Record<string, string> = {}, values: Parameters<typeof agentIn>[1] = {}) {
      windows += 1
      const root = makeWorkspace(files)
      const agent = agentIn(root, {
        channelId: 'C1',
        connectionId: `window-${windows}`,
        tokenId: `t${windows}`,
        ...values,
      })
      const { id } = await parts.sessions.attach(agent)
      return { id, root, agent }
    },
    /** What Ann gets for a line that she types in C1. */
    type: (
      line: string,
      by: Caller = annOnSlack,
      context: Partial<CommandContext> = {},
      more: Partial<CommandServices> = {},
    ) => runCommand({ ...services, ...more }, by, { channelId: 'C1', ...context }, line),
  }
}

/** Everything that an answer says, one line for each line. */
export const words = ({ parts }: Answer): string[] =>
  parts.flatMap((part) => (part.kind === 'lines' ? part.lines : part.text.split('\n')))
