// Checkpoints and restores, commands in a workspace, starting agents, and removing what is old.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { Checkpoint } from '../../../domain/supervision/supervision.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { RestorePlan } from '../../../supervision/checkpoints/restore-plan.ts'
import type { SessionCheckpoints } from '../../../supervision/checkpoints/session-checkpoints.ts'
import type { SessionCommands } from '../../../supervision/commands/session-commands.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import type { PurgeSupervised } from '../../../supervision/sessions/purge-supervised.ts'
import type { Spawner, SpawnRequest } from '../../../supervision/spawn/create-spawner.ts'
import type { Startable } from '../../../supervision/spawn/startable.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { nextLink, printPlace, queryProblem } from '../../shared/request/page.ts'
import { SupervisionSchema } from '../../shared/supervised/schema.ts'
import { supervisionView } from '../../shared/supervised/supervision-view.ts'
import {
  ChangesSchema,
  CheckpointSchema,
  CommandResultSchema,
  FileDiffSchema,
  PurgedSchema,
  RestoredSchema,
  ShownCheckpointSchema,
} from './checkpoint-schema.ts'
import { decodeBody, decodeList, idIn } from './decode.ts'
import { changesView, checkpointView, fileDiffView } from './encode.ts'
import {
  commandErrors,
  listQuery,
  NewCheckpointSchema,
  PurgeSchema,
  RestoreSchema,
  RunCommandSchema,
  SpawnSchema,
  StartableSchema,
  sessionParams,
  supervisionTag as tag,
} from './schema.ts'

export interface WorkRoutesDeps {
  checkpoints: SessionCheckpoints
  commands: Pick<SessionCommands, 'run'>
  spawner: Pick<Spawner, 'start' | 'check'>
  startable: () => Promise<Startable>
  purge: PurgeSupervised
  oversight: Pick<Oversight, 'listing' | 'foreignSession'>
}

const FILES_SHOWN = 1_000
const read = { method: 'GET', door: null, role: 'user', body: 'none' } as const
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const
const params = { id: z.string().describe('Id of the checkpoint: a UUID or a ULID.') }
const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

export function createWorkRoutes(deps: WorkRoutesDeps): Route[] {
  const { checkpoints, commands, spawner, startable, purge, oversight } = deps

  async function list(request: Request, reply: Reply): Promise<void> {
    const { limit, ...query } = await decodeList(request, oversight)
    const found = await checkpoints.list({ ...query, limit: limit + 1 })
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
    const viewer = viewerOf(request)
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
    reply.json(201, checkpointView(await checkpoints.save(callerOf(request), id, { label, contents }, request.signal)))
  }

  async function restore(request: Request, reply: Reply): Promise<void> {
    const id = idIn(request)
    const { confirm = null } = await decodeBody(request, RestoreSchema)
    const answer = await checkpoints.restore(callerOf(request), id, confirm)
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
      callerOf(request),
      id,
      alias,
    )
    const facts = { exit_code: exitCode, signal, duration_ms: durationMs, dropped_bytes: droppedBytes }
    reply.json(200, { alias, ended, ...facts, output, problem })
  }

  async function wantedIn(request: Request): Promise<SpawnRequest> {
    const { prompt, workspace, host, title } = await decodeBody(request, SpawnSchema)
    return { owner: request.principal.owner, prompt, workspace, host, title }
  }

  async function spawn(request: Request, reply: Reply): Promise<void> {
    const session = await spawner.start(await wantedIn(request))
    reply.note({ session_id: session.id })
    reply.json(201, supervisionView(session), { Location: `/sessions/${session.id}` })
  }

  async function removeOld(request: Request, reply: Reply): Promise<void> {
    const { dry_run = false } = await decodeBody(request, PurgeSchema)
    const { sessions } = await purge({ dryRun: dry_run })
    reply.json(200, { dry_run, count: sessions.length, sessions: sessions.map(({ id }) => id) })
  }

  return [
    {
      ...read,
      path: '/checkpoints',
      summary: 'List checkpoints',
      describe: () => ({
        tag,
        description: 'Newest first. An operator sees all, others see those of their own sessions.',
        query: listQuery,
        responses: { 200: page('checkpoints', CheckpointSchema) },
        errors: ['invalid_request', 'forbidden', 'storage_failed'],
      }),
      handle: list,
    },
    {
      ...read,
      path: '/checkpoints/:id',
      summary: 'Show one checkpoint',
      describe: () => ({
        tag,
        description: 'With the hashes of its files, up to 1,000 at a time.',
        params,
        query: { after: z.string().optional().describe('`next_file` of the answer before.') },
        responses: { 200: answer('The checkpoint.', ShownCheckpointSchema) },
        errors: ['malformed_id', 'record_not_found', 'storage_failed'],
      }),
      handle: show,
    },
    {
      ...read,
      path: '/checkpoints/:id/changes',
      summary: 'What differs between a checkpoint and its workspace now',
      describe: () => ({
        tag,
        description: 'Reads every file of the workspace: 100,000 files take up to half a minute.',
        params,
        responses: { 200: answer('What differs between the checkpoint and the workspace now.', ChangesSchema) },
        errors: ['malformed_id', 'record_not_found', 'path_violation', 'storage_failed'],
      }),
      handle: changes,
    },
    {
      ...read,
      path: '/checkpoints/:id/diff',
      summary: 'The difference in one file since a checkpoint',
      describe: () => ({
        tag,
        description: 'Texts of up to 1 MB. Files that usually hold secrets are not shown.',
        params,
        query: { path: z.string().min(1).max(4_096).describe('Of a file in the workspace, relative to its root.') },
        responses: { 200: answer('What has become of the file since the checkpoint.', FileDiffSchema) },
        errors: [
          'malformed_id',
          'invalid_request',
          'record_not_found',
          'file_not_found',
          'path_violation',
          'storage_failed',
        ],
      }),
      handle: diff,
    },
    {
      ...command,
      path: '/checkpoints/:id/restore',
      summary: 'Bring a workspace back to a checkpoint',
      describe: () => ({
        tag,
        description:
          'The first request is answered with 409 `restore_unconfirmed`: it lists the files that would be modified, deleted and added, those that nobody may write without a person, and `digest`. Send that digest as `confirm`. If the workspace has changed meanwhile, the answer is a new 409. A restore ends the session of the checkpoint and begins a new one of the same owner; what it overwrites is kept in the checkpoint `undo`.',
        params,
        body: { schema: RestoreSchema, examples: { 'what would change': {}, 'do it': { confirm: digest } } },
        responses: { 200: answer('The workspace is restored.', RestoredSchema) },
        errors: [...commandErrors, 'record_not_found', 'restore_unconfirmed', 'session_ended', 'limit'],
      }),
      handle: restore,
    },
    {
      ...command,
      path: '/sessions/:id/checkpoint',
      summary: 'Keep the state of a session and its workspace',
      describe: () => ({
        tag,
        description:
          'Hashes all files of the workspace that its .gitignore files do not exclude, and keeps their contents. 100,000 files take up to half a minute.',
        params: sessionParams,
        body: {
          schema: NewCheckpointSchema,
          examples: { 'with contents': { label: 'before the migration' }, 'hashes only': { contents: false } },
        },
        responses: { 201: answer('The checkpoint.', CheckpointSchema) },
        errors: [...commandErrors, 'limit'],
      }),
      handle: save,
    },
    {
      ...command,
      path: '/sessions/:id/run',
      summary: 'Run a configured command in the workspace of a session',
      describe: () => ({
        tag,
        description:
          'Runs exactly what quarterdeck.yaml says, without a shell, for up to 60 seconds. The output is also streamed to the log of the session. Beware: a command like `npm test` runs code that the agent may have written.',
        params: sessionParams,
        body: { schema: RunCommandSchema, examples: { test: { alias: 'test' } } },
        responses: { 200: answer('The command has ended.', CommandResultSchema) },
        errors: [...commandErrors, 'command_not_found'],
      }),
      handle: run,
    },
    {
      ...command,
      path: '/sessions',
      summary: 'Start an agent in a workspace',
      describe: () => ({
        tag,
        description:
          'Starts a coding agent in a workspace, over the Agent Client Protocol: `host`, else `host_cli` of the settings, else the only one that is installed. The session is yours, and the prompt is its first message; send it more with `POST /sessions/{id}/messages`.',
        body: {
          schema: SpawnSchema,
          examples: {
            start: { prompt: 'Make the search faster.', workspace: '/home/ada/shop', title: 'Faster search' },
          },
        },
        responses: {
          201: {
            ...answer('The agent is started.', SupervisionSchema, {
              status: 'created',
              host: 'claude',
              prompt: 'Make the search faster.',
              last_tool: null,
              progress_snapshot: null,
              pid: 4711,
            }),
            headers: { Location: 'Address of the session.' },
          },
        },
        errors: [...commandErrors, 'limit'],
      }),
      check: async (request) => spawner.check(await wantedIn(request)),
      handle: spawn,
    },
    {
      ...read,
      role: 'operator',
      path: '/hosts',
      summary: 'What can be started, and where',
      describe: () => ({
        tag,
        description: 'Programs, what each lacks that cannot be started, and the folders of the settings.',
        responses: { 200: answer('Programs and folders.', StartableSchema) },
        errors: [],
      }),
      handle: async (_request, reply) => reply.json(200, await startable()),
    },
    {
      ...command,
      path: '/sessions/purge',
      summary: 'Remove supervised sessions that ended long ago',
      describe: () => ({
        tag,
        description:
          'Removes sessions that were terminated or interrupted more than `sessions.retention_days` ago, with everything that belongs to them. The server also does this once an hour.',
        body: { schema: PurgeSchema, examples: { 'only look': { dry_run: true }, remove: {} } },
        responses: { 200: answer('What was removed, or would be.', PurgedSchema) },
        errors: commandErrors,
      }),
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
