// What the routes of checkpoints, commands and new agents take and answer, for the OpenAPI document.

import { z } from 'zod'
import { answer, page } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { SupervisionSchema } from '../../shared/supervised/schema.ts'
import {
  ChangesSchema,
  CheckpointSchema,
  CommandResultSchema,
  FileDiffSchema,
  PurgedSchema,
  RestoredSchema,
  ShownCheckpointSchema,
} from './checkpoint-schema.ts'
import { NewCheckpointSchema, PurgeSchema, RestoreSchema, RunCommandSchema, SpawnSchema } from './command-schema.ts'
import { commandErrors, listQuery, supervisionTag as tag } from './describe-records.ts'
import { sessionParams } from './describe-sessions.ts'

const params = { id: z.string().describe('Id of the checkpoint: a UUID or a ULID.') }

const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

export const describeCheckpoints: RouteDescription = {
  tag,
  description: 'Newest first. An operator sees all, others see those of their own sessions.',
  query: listQuery,
  responses: { 200: page('checkpoints', CheckpointSchema) },
  errors: ['invalid_request', 'forbidden', 'storage_failed'],
}

export const describeCheckpoint: RouteDescription = {
  tag,
  description: 'With the hashes of its files, up to 1,000 at a time.',
  params,
  query: { after: z.string().optional().describe('`next_file` of the answer before.') },
  responses: {
    200: answer('The checkpoint.', ShownCheckpointSchema),
  },
  errors: ['malformed_id', 'record_not_found', 'storage_failed'],
}

export const describeChanges: RouteDescription = {
  tag,
  description: 'Reads every file of the workspace: 100,000 files take up to half a minute.',
  params,
  responses: {
    200: answer('What differs between the checkpoint and the workspace now.', ChangesSchema),
  },
  errors: ['malformed_id', 'record_not_found', 'path_violation', 'storage_failed'],
}

export const describeDiff: RouteDescription = {
  tag,
  description: 'Texts of up to 1 MB. Files that usually hold secrets are not shown.',
  params,
  query: { path: z.string().min(1).max(4_096).describe('Of a file in the workspace, relative to its root.') },
  responses: {
    200: answer('What has become of the file since the checkpoint.', FileDiffSchema),
  },
  errors: ['malformed_id', 'invalid_request', 'record_not_found', 'file_not_found', 'path_violation', 'storage_failed'],
}

export const describeSave: RouteDescription = {
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
}

export const describeRestore: RouteDescription = {
  tag,
  description:
    'The first request is answered with 409 `restore_unconfirmed`: it lists the files that would be modified, deleted and added, those that nobody may write without a person, and `digest`. Send that digest as `confirm`. If the workspace has changed meanwhile, the answer is a new 409. A restore ends the session of the checkpoint and begins a new one of the same owner; what it overwrites is kept in the checkpoint `undo`.',
  params,
  body: { schema: RestoreSchema, examples: { 'what would change': {}, 'do it': { confirm: digest } } },
  responses: {
    200: answer('The workspace is restored.', RestoredSchema),
  },
  errors: [...commandErrors, 'record_not_found', 'restore_unconfirmed', 'session_ended', 'limit'],
}

export const describeRunCommand: RouteDescription = {
  tag,
  description:
    'Runs exactly what quarterdeck.yaml says, without a shell, for up to 60 seconds. The output is also streamed to the log of the session. Beware: a command like `npm test` runs code that the agent may have written.',
  params: sessionParams,
  body: { schema: RunCommandSchema, examples: { test: { alias: 'test' } } },
  responses: {
    200: answer('The command has ended.', CommandResultSchema),
  },
  errors: [...commandErrors, 'command_not_found'],
}

export const describeSpawn: RouteDescription = {
  tag,
  description:
    'Starts `host_cli` in a workspace, with a token of its own. The session is yours. It ends by itself if the agent does not connect within 30 seconds.',
  body: {
    schema: SpawnSchema,
    examples: { start: { prompt: 'Make the search faster.', workspace: '/home/ada/shop', title: 'Faster search' } },
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
}

export const describePurge: RouteDescription = {
  tag,
  description:
    'Removes sessions that were terminated or interrupted more than `sessions.retention_days` ago, with everything that belongs to them. The server also does this once an hour.',
  body: { schema: PurgeSchema, examples: { 'only look': { dry_run: true }, remove: {} } },
  responses: {
    200: answer('What was removed, or would be.', PurgedSchema),
  },
  errors: commandErrors,
}
