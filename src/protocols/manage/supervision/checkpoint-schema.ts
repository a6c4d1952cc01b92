// Checkpoints, commands that were run, and sessions that were purged, as they are answered.

import { z } from 'zod'
import { operationalModes, supervisedStatuses } from '../../../domain/supervision/supervision.ts'
import { exampleSupervision, ProgressSchema, SupervisionSchema } from '../../shared/supervised/schema.ts'

const time = z.iso.datetime()

const example = {
  checkpoint_id: '0192f3a1-7b2c-7def-8abc-0123456789ad',
  session_id: exampleSupervision.session_id,
  owner: 'ada',
  label: 'before the migration',
  workspace_root: '/home/ada/shop',
  files: 1204,
  bytes: 8_300_122,
  has_contents: true,
  session_state: { status: 'active', mode: 'remote', title: 'Shop: faster search', last_tool: 'heartbeat' },
  progress_snapshot: null,
  created_at: '2026-11-15T09:00:00.000Z',
}

export const CheckpointSchema = z
  .strictObject({
    checkpoint_id: z.string(),
    session_id: z.string(),
    owner: z.string(),
    label: z.string().nullable(),
    workspace_root: z.string(),
    files: z.int().min(0),
    bytes: z.int().min(0),
    has_contents: z.boolean().describe('Its files can be brought back.'),
    session_state: z.strictObject({
      status: z.enum(supervisedStatuses),
      mode: z.enum(operationalModes),
      title: z.string().nullable(),
      last_tool: z.string().nullable(),
    }),
    progress_snapshot: ProgressSchema.nullable(),
    created_at: time,
  })
  .meta({ id: 'Checkpoint', example })
export type Checkpoint = z.output<typeof CheckpointSchema>

export const ShownCheckpointSchema = CheckpointSchema.extend({
  file_hashes: z.record(z.string(), z.string()).describe('SHA-256 by path. A link has `link:` and its target.'),
  next_file: z.string().nullable().describe('Send it as `after` for the next files. Null: these were the last.'),
}).meta({
  id: 'ShownCheckpoint',
  example: {
    ...example,
    file_hashes: { 'src/search.ts': '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    next_file: null,
  },
})
/** A checkpoint with the hashes of its files, up to 1,000 at a time. */
export type ShownCheckpoint = z.output<typeof ShownCheckpointSchema>

const ChangedFileSchema = z.strictObject({
  path: z.string(),
  change: z.enum(['modified', 'deleted', 'added']).describe('Since the checkpoint.'),
  bytes_then: z.int().min(0).nullable().describe('Null: it was not there, or was a link.'),
  bytes_now: z.int().min(0).nullable().describe('Null: it is not there, or is a link.'),
})

export const ChangesSchema = z
  .strictObject({
    checkpoint_id: z.string(),
    counts: z.strictObject({
      modified: z.int().min(0),
      deleted: z.int().min(0),
      added: z.int().min(0),
      unknown: z.int().min(0).describe('Could not be read now or at the checkpoint.'),
    }),
    files: z.array(ChangedFileSchema).describe('Up to 1,000, in the order of their paths.'),
    unknown: z.array(z.string()).describe('Up to 1,000.'),
  })
  .meta({
    id: 'CheckpointChanges',
    example: {
      checkpoint_id: example.checkpoint_id,
      counts: { modified: 1, deleted: 0, added: 1, unknown: 0 },
      files: [
        { path: 'src/index.sql', change: 'added', bytes_then: null, bytes_now: 212 },
        { path: 'src/search.ts', change: 'modified', bytes_then: 4_210, bytes_now: 4_377 },
      ],
      unknown: [],
    },
  })
/** What differs between a checkpoint and its workspace now. */
export type CheckpointChanges = z.output<typeof ChangesSchema>

export const FileDiffSchema = z
  .strictObject({
    path: z.string(),
    change: z.enum(['modified', 'deleted', 'added', 'same']).describe('`same`: at most its mode differs.'),
    diff: z.string().nullable().describe('A unified diff. Null: `why_not` says why.'),
    shown_diff: z.string().nullable().describe('The same for people: hidden characters are marked, as `<U+202E>`.'),
    added_lines: z.int().min(0),
    removed_lines: z.int().min(0),
    why_not: z.string().nullable().describe('Such as: it is not text, it is too large, it holds a secret.'),
  })
  .meta({
    id: 'CheckpointFileDiff',
    example: {
      path: 'src/search.ts',
      change: 'modified',
      diff: '--- a/src/search.ts\n+++ b/src/search.ts\n@@ -1 +1 @@\n-slow()\n+fast()\n',
      shown_diff: '--- a/src/search.ts\n+++ b/src/search.ts\n@@ -1 +1 @@\n-slow()\n+fast()',
      added_lines: 1,
      removed_lines: 1,
      why_not: null,
    },
  })
/** What has become of one file since a checkpoint. */
export type CheckpointFileDiff = z.output<typeof FileDiffSchema>

export const RestoredSchema = z
  .strictObject({
    session: SupervisionSchema.describe('The new session.'),
    written: z.int().min(0),
    removed: z.int().min(0),
    not_restored: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
    undo: CheckpointSchema.describe('What the workspace was before. Restore it to undo this.'),
  })
  .meta({
    id: 'Restored',
    example: {
      session: { ...exampleSupervision, status: 'created', restored_from: example.checkpoint_id },
      written: 3,
      removed: 1,
      not_restored: [],
      undo: { ...example, label: 'before restoring before the migration' },
    },
  })
export type Restored = z.output<typeof RestoredSchema>

export const CommandResultSchema = z
  .strictObject({
    alias: z.string(),
    ended: z.enum(['exit', 'timeout', 'stopped', 'not_started']),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    duration_ms: z.int().min(0),
    output: z.string().describe('The first 64 KB of stdout and stderr.'),
    dropped_bytes: z.int().min(0),
    problem: z.string().nullable(),
  })
  .meta({
    id: 'CommandResult',
    example: {
      alias: 'test',
      ended: 'exit',
      exit_code: 0,
      signal: null,
      duration_ms: 4_210,
      output: '12 tests passed\n',
      dropped_bytes: 0,
      problem: null,
    },
  })
export type CommandResult = z.output<typeof CommandResultSchema>

export const PurgedSchema = z
  .strictObject({ dry_run: z.boolean(), count: z.int().min(0), sessions: z.array(z.string()) })
  .meta({ id: 'Purged', example: { dry_run: true, count: 1, sessions: [exampleSupervision.session_id] } })
export type Purged = z.output<typeof PurgedSchema>
