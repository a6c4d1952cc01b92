// What people see of a supervised session beyond what every session has.

import { z } from 'zod'
import { operationalModes, supervisedStatuses } from '../../../domain/supervision/supervision.ts'

const time = z.iso.datetime()

export const ProgressItemSchema = z.strictObject({
  label: z.string(),
  status: z.enum(['done', 'in_progress', 'pending']),
})
export type ProgressItem = z.output<typeof ProgressItemSchema>

export const ProgressSchema = z.array(ProgressItemSchema)

export const exampleSupervision = {
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  owner_user_id: 'ada',
  workspace_root: '/home/ada/shop',
  status: 'active',
  host: 'claude-code',
  mode: 'remote',
  title: 'Shop: faster search',
  prompt: null,
  channel_id: null,
  created_at: '2026-11-15T09:00:00.000Z',
  updated_at: '2026-11-15T09:04:10.125Z',
  terminated_at: null,
  last_tool: 'ask_approval',
  nudge_count: 0,
  stall_paused: false,
  stalls_enabled: true,
  progress_snapshot: [
    { label: 'Find the slow query', status: 'done' },
    { label: 'Add an index', status: 'in_progress' },
  ],
  restored_from: null,
  pid: null,
  crash: null,
}

export const SupervisionSchema = z
  .strictObject({
    session_id: z.string(),
    owner_user_id: z.string(),
    workspace_root: z.string().describe('The folder that the agent works in.'),
    status: z.enum(supervisedStatuses),
    host: z.string().describe('The program that the agent runs in, as it names itself.'),
    mode: z.enum(operationalModes).describe('Where the agent’s questions are shown. HTTP shows them in every mode.'),
    title: z.string().nullable(),
    prompt: z.string().nullable().describe('What the agent was started with, if it was started from here.'),
    channel_id: z.string().nullable(),
    created_at: time,
    updated_at: time.describe('When the agent last called, reported or was answered.'),
    terminated_at: time.nullable().describe('When it was terminated or interrupted.'),
    last_tool: z.string().nullable(),
    nudge_count: z.int().min(0).describe('Nudges since the agent was last active.'),
    stall_paused: z
      .boolean()
      .describe('The server works for the agent, or the agent has ended its turn, so its silence does not count.'),
    stalls_enabled: z.boolean().describe('False: an operator has switched alerts and nudges of this session off.'),
    progress_snapshot: ProgressSchema.nullable(),
    restored_from: z.string().nullable().describe('The checkpoint that this session goes on from.'),
    pid: z.int().nullable().describe('The process of the agent, if it was started from here.'),
    crash: z
      .string()
      .nullable()
      .describe(
        'How the process of the agent last crashed, with its last lines of stderr, if it was started from here.',
      ),
  })
  .meta({ id: 'Supervision', example: exampleSupervision })
/** The session of an agent elsewhere. */
export type Supervision = z.output<typeof SupervisionSchema>

const choice = z.string().max(1_000)

/** As `forwardedProps.host` of AG-UI. */
export const HostChoiceSchema = z
  .strictObject({
    mode: choice.exactOptional().describe('Id of a mode.'),
    command: choice.exactOptional().describe('Name of a command. The message follows it.'),
    config: z
      .record(choice, z.union([choice, z.boolean()]))
      .exactOptional()
      .describe('Values of options, by their ids.'),
  })
  .describe('For hosted agents: what their program offers. It lasts until something else is chosen.')
  .meta({ id: 'HostChoice' })
export type HostChoice = z.output<typeof HostChoiceSchema>

const text = z.string()
const named = z.strictObject({ id: text, name: text, description: text.nullable() })

export const HostStateSchema = z
  .strictObject({
    mode: text.nullable().describe('Null: the program has no modes, or has not told yet.'),
    modes: z.array(named).describe('Without those in which nobody would be asked.'),
    commands: z.array(z.strictObject({ name: text, description: text, hint: text.nullable() })),
    config: z.array(
      named.extend({
        value: z.union([text, z.boolean()]),
        values: z
          .array(z.strictObject({ value: text, name: text }))
          .nullable()
          .describe('Null: it is on or off.'),
      }),
    ),
    usage: z
      .strictObject({
        used: z.number().describe('Tokens in the context now.'),
        size: z.number().describe('Tokens that fit.'),
        cost: z
          .strictObject({ amount: z.number(), currency: text })
          .nullable()
          .describe('Null: the program does not tell.'),
      })
      .nullable()
      .describe('Null: the program does not tell.'),
  })
  .meta({ id: 'HostState' })
/** What the program of a hosted agent offers, and how full its context is. */
export type HostState = z.output<typeof HostStateSchema>
