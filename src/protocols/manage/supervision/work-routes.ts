// Checkpoints and restores, commands in a workspace, starting agents, and removing what is old.

import { ServerError } from '../../../domain/errors.ts'
import type { Checkpoint } from '../../../domain/supervision.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { RestorePlan } from '../../../supervision/checkpoints/restore-plan.ts'
import type { SessionCheckpoints } from '../../../supervision/checkpoints/session-checkpoints.ts'
import type { SessionCommands } from '../../../supervision/commands/session-commands.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import type { PurgeSupervised } from '../../../supervision/sessions/purge-supervised.ts'
import type { Spawner, SpawnRequest } from '../../../supervision/spawn/create-spawner.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { parsePlace, printPlace } from '../../shared/request/list-place.ts'
import { decodePage, nextLink, queryProblem } from '../../shared/request/page.ts'
import { supervisionView } from '../../shared/supervised/supervision-view.ts'
import { NewCheckpointSchema, PurgeSchema, RestoreSchema, RunCommandSchema, SpawnSchema } from './command-schema.ts'
import { decodeBody, decodeOwner, decodeSession, idIn } from './decode.ts'
import {
  describeChanges,
  describeCheckpoint,
  describeCheckpoints,
  describeDiff,
  describePurge,
  describeRestore,
  describeRunCommand,
  describeSave,
  describeSpawn,
} from './describe-work.ts'
import { changesView, checkpointView, fileDiffView } from './encode.ts'

export interface WorkRoutesDeps {
  checkpoints: SessionCheckpoints
  commands: Pick<SessionCommands, 'run'>
  spawner: Pick<Spawner, 'start' | 'check'>
  purge: PurgeSupervised
  oversight: Pick<Oversight, 'listing' | 'foreignSession'>
}

const PAGE = { max: 100, fallback: 50 }
const FILES_SHOWN = 1_000
const read = { method: 'GET', door: null, role: 'user', body: 'none' } as const
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const

export function createWorkRoutes(deps: WorkRoutesDeps): Route[] {
  const { checkpoints, commands, spawner, purge, oversight } = deps
  const byOf = (request: Request) => callerOf(request.principal, request.channel)

  async function list(request: Request, reply: Reply): Promise<void> {
    const viewer = viewerOf(request.principal)
    const { limit, before } = decodePage(request, PAGE)
    const [owner, sessionId] = [decodeOwner(request), decodeSession(request)]
    const isOwn = owner === viewer.owner || (owner === undefined && viewer.by.role !== 'operator')
    if (!isOwn) await oversight.listing(viewer, owner ?? '*')
    const found = await checkpoints.list({
      by: viewer.by,
      limit: limit + 1,
      ...(owner === undefined ? {} : { owner }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(before === undefined ? {} : { before: parsePlace(before) }),
    })
    const shown = found.slice(0, limit)
    const last = found.length > limit ? shown.at(-1) : undefined
    const link = nextLink('/checkpoints', request.query, last === undefined ? null : printPlace(last))
    reply.json(200, { checkpoints: shown.map(checkpointView) }, link)
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    const checkpoint = await seen(request, reply)
    const { files, next } = await checkpoints.files(checkpoint, request.query.get('after'), FILES_SHOWN)
    const hashes = files.map(({ path, sha256, link_target }) => [path, sha256 ?? `link:${link_target}`])
    reply.json(200, { ...checkpointView(checkpoint), file_hashes: Object.fromEntries(hashes), next_file: next })
  }

  /** Throws unless the caller may see the checkpoint. The audit trail says who looked at somebody else's. */
  async function seen(request: Request, reply: Reply): Promise<Checkpoint> {
    const viewer = viewerOf(request.principal)
    const checkpoint = await checkpoints.get(viewer.by, idIn(request))
    reply.note({ session_id: checkpoint.sessionId })
    await oversight.foreignSession(viewer, checkpoint.sessionId)
    return checkpoint
  }

  async function changes(request: Request, reply: Reply): Promise<void> {
    const checkpoint = await seen(request, reply)
    reply.json(200, changesView(checkpoint, await checkpoints.changes(checkpoint, request.signal), FILES_SHOWN))
  }

  async function diff(request: Request, reply: Reply): Promise<void> {
    const path = pathIn(request)
    const checkpoint = await seen(request, reply)
    reply.json(200, fileDiffView(await checkpoints.diff(checkpoint, path)))
  }

  async function save(request: Request, reply: Reply): Promise<void> {
    const id = idIn(request)
    reply.note({ session_id: id })
    const { label = null, contents = true } = await decodeBody(request, NewCheckpointSchema)
    reply.json(201, checkpointView(await checkpoints.save(byOf(request), id, { label, contents }, request.signal)))
  }

  async function restore(request: Request, reply: Reply): Promise<void> {
    const id = idIn(request)
    const { confirm = null } = await decodeBody(request, RestoreSchema)
    const answer = await checkpoints.restore(byOf(request), id, confirm)
    if (answer.status === 'changed') throw notConfirmed(id, confirm, answer.plan)
    const { session, undo, result } = answer
    reply.note({ session_id: session.id })
    const { written, removed, not_restored } = result
    reply.json(200, { session: supervisionView(session), written, removed, not_restored, undo: checkpointView(undo) })
  }

  async function run(request: Request, reply: Reply): Promise<void> {
    const id = idIn(request)
    reply.note({ session_id: id })
    const { alias } = await decodeBody(request, RunCommandSchema)
    const { ended, exitCode, signal, durationMs, output, droppedBytes, problem } = await commands.run(
      byOf(request),
      id,
      alias,
    )
    const facts = { exit_code: exitCode, signal, duration_ms: durationMs, dropped_bytes: droppedBytes }
    reply.json(200, { alias, ended, ...facts, output, problem })
  }

  async function wantedIn(request: Request): Promise<SpawnRequest> {
    const { prompt, workspace, host, title } = await decodeBody(request, SpawnSchema)
    return {
      owner: request.principal.owner,
      ...{ prompt, workspace },
      ...(host === undefined ? {} : { host }),
      ...(title === undefined ? {} : { title }),
    }
  }

  async function spawn(request: Request, reply: Reply): Promise<void> {
    const session = await spawner.start(byOf(request), await wantedIn(request))
    reply.note({ session_id: session.id })
    reply.json(201, supervisionView(session), { Location: `/sessions/${session.id}` })
  }

  async function removeOld(request: Request, reply: Reply): Promise<void> {
    const { dry_run = false } = await decodeBody(request, PurgeSchema)
    const { sessions } = await purge({ dryRun: dry_run })
    reply.json(200, { dry_run, count: sessions.length, sessions: sessions.map(({ id }) => id) })
  }

  return [
    { ...read, path: '/checkpoints', summary: 'List checkpoints', describe: describeCheckpoints, handle: list },
    { ...read, path: '/checkpoints/:id', summary: 'Show one checkpoint', describe: describeCheckpoint, handle: show },
    {
      ...read,
      path: '/checkpoints/:id/changes',
      summary: 'What differs between a checkpoint and its workspace now',
      describe: describeChanges,
      handle: changes,
    },
    {
      ...read,
      path: '/checkpoints/:id/diff',
      summary: 'The difference in one file since a checkpoint',
      describe: describeDiff,
      handle: diff,
    },
    {
      ...command,
      path: '/checkpoints/:id/restore',
      summary: 'Bring a workspace back to a checkpoint',
      describe: describeRestore,
      handle: restore,
    },
    {
      ...command,
      path: '/sessions/:id/checkpoint',
      summary: 'Keep the state of a session and its workspace',
      describe: describeSave,
      handle: save,
    },
    {
      ...command,
      path: '/sessions/:id/run',
      summary: 'Run a configured command in the workspace of a session',
      describe: describeRunCommand,
      handle: run,
    },
    {
      ...command,
      path: '/sessions',
      summary: 'Start an agent in a workspace',
      describe: describeSpawn,
      check: async (request) => spawner.check(await wantedIn(request)),
      handle: spawn,
    },
    {
      ...command,
      path: '/sessions/purge',
      summary: 'Remove supervised sessions that ended long ago',
      describe: describePurge,
      handle: removeOld,
    },
  ]
}

/** `?path=`. */
function pathIn({ query }: Pick<Request, 'query'>): string {
  const path = query.get('path') ?? ''
  if (path !== '' && path.length <= 4_096) return path
  throw queryProblem({ pointer: 'path', detail: 'Send the path of a file in the workspace.' })
}

/** Nothing was changed. The person looks at what would be lost and names its digest. */
function notConfirmed(id: string, confirm: string | null, plan: RestorePlan): ServerError {
  const { digest, counts, ...lists } = plan
  const message =
    confirm === null
      ? 'Look at what would change, then send the digest as `confirm`.'
      : 'The workspace is not what you confirmed. Look at what would change now, then send its digest as `confirm`.'
  return new ServerError('restore_unconfirmed', message, { details: { checkpoint_id: id, digest, counts, ...lists } })
}
