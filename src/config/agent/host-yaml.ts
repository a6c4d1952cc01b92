// The schema of the key `host` in agent.yaml: the program of a coding agent does the work of the agent.

import { z } from 'zod'
import { hostWrites } from '../../domain/agent/agent.ts'
import { hostNames } from '../../hosts/hosts.ts'
import { key, reporter, text } from '../source/schema-key.ts'

const hostKeys = {
  name: key(z.enum(hostNames).optional(), 'Which coding agent. Another one that speaks ACP needs `command`.', 'claude'),
  command: key(
    text().optional(),
    'The program that speaks the Agent Client Protocol on its standard input and output: a name or a path. Default: the usual one of `name`.',
    'claude-agent-acp',
  ),
  args: key(z.array(z.string()).default([]), 'Further arguments of the program.', ['--verbose']),
  workspace: key(text(), 'The folder that the agent works in, relative to this file.', './shop'),
  env: key(
    z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)).default([]),
    'Names of variables of the server that the program gets too, never their values. The credentials of a known `name` are among them already.',
    ['GITHUB_TOKEN'],
    'a list of names of variables',
  ),
  writes: key(
    z.enum(hostWrites).default('worktree'),
    '`worktree`: the agent writes in a private copy of the workspace, and a person approves its changes at the end. `client`: it asks for each file, and the workspace is read-only for it.',
    'worktree',
  ),
  unconfined: key(
    z.boolean().default(false),
    'Start the program although no sandbox confines it here (bubblewrap on Linux). Then it can write wherever the user of the server can.',
    false,
  ),
  network: key(
    z.boolean().default(true),
    'False: the sandbox has no network but loopback of its own, so a model elsewhere cannot be reached.',
    true,
  ),
}

export const host = z.strictObject(hostKeys).superRefine((value, context) => {
  const report = reporter(context)
  if (value.name === undefined && value.command === undefined) {
    report('name', 'which program does the work? Write e.g. name: claude, or command: my-agent')
  }
})

export type HostYaml = z.infer<typeof host>

/** Keys of an agent that its program decides about itself, and what to do in their place. */
export const notBesideHost: readonly { path: readonly string[]; instead: string }[] = [
  { path: ['model'], instead: 'The program has a model of its own. Remove one of the two' },
  {
    path: ['instructions'],
    instead: 'The program reads its own, such as CLAUDE.md or AGENTS.md in the workspace. Remove it',
  },
  { path: ['tools'], instead: 'The program has its own tools. Remove them' },
  { path: ['skills'], instead: 'The program reads its own, such as .claude/skills in the workspace. Remove it' },
  { path: ['response_format'], instead: 'The program cannot promise a format. Remove it' },
  { path: ['memory'], instead: 'The program keeps its own notes. Remove it' },
  { path: ['context'], instead: 'The program keeps its own context. Remove it' },
  {
    path: ['limits', 'steps'],
    instead: 'The program counts its own steps. Limit the time with limits: { duration: 2h }',
  },
  { path: ['limits', 'identical_calls'], instead: 'The program makes its own calls. Remove it' },
  { path: ['limits', 'parallel_calls'], instead: 'The program makes its own calls. Remove it' },
  { path: ['limits', 'cost'], instead: 'The program has no prices. Limit the time with limits: { duration: 2h }' },
  {
    path: ['limits', 'tokens'],
    instead: 'Many programs do not tell their tokens. Limit the time with limits: { duration: 2h }',
  },
  { path: ['approval', 'default'], instead: 'Policy, risk and what people remember decide what is asked. Remove it' },
  { path: ['approval', 'policy'], instead: 'Write the policy of the workspace: .quarterdeck/policy.json' },
  { path: ['approval', 'by'], instead: 'Only operators answer a coding agent. Remove it' },
]
