// What differs between the real agents when a server hosts them: how their models run and write, and how they write without asking.

import type { Host } from '../hosts.ts'
import type { Step } from '../scripted-model.ts'

type Files = Readonly<Record<string, string>>

export interface AcpHost {
  /** Its settings for the model, by path below HOME. */
  files(given: Files): Files
  /** What people wrote into the workspace for agents: CLAUDE.md, AGENTS.md, GEMINI.md. */
  readsInstructions: boolean
  /** It knows a conversation that was cut off while a person was asked. Null: only if it was not killed right after it had asked. */
  isResumed: boolean | null
  /** A question about a command says which. Without that, a yes counts for no other question, so a new program asks again. */
  tellsCommand: boolean
  /** The tool's name under which a command is asked about. */
  shellTool: string
  shell(command: string): Step
  /** A new file, written with the host's own tool. */
  write(workspace: string, name: string, text: string): Step
  /** What lets it write `count.txt` without a question, added to its settings, and what its model is asked then. */
  fearless: { args: readonly string[]; files: Files; prompt: 'run' | 'hello' }
}

export const acpHosts: Readonly<Record<Host['name'], AcpHost>> = {
  claude: {
    files: (given) => given,
    readsInstructions: true,
    isResumed: true,
    tellsCommand: true,
    shellTool: 'Bash',
    shell: (command) => ({ call: 'Bash', input: { command, description: 'Write a file' } }),
    write: (workspace, name, text) => ({ call: 'Write', input: { file_path: `${workspace}/${name}`, content: text } }),
    fearless: {
      args: [],
      files: { '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash', 'Write'] } }) },
      prompt: 'run',
    },
  },
  codex: {
    // A model that Codex knows, so that it offers `apply_patch` and does not warn.
    files: ({ '.codex/config.toml': config = '', ...others }) => ({
      ...others,
      '.codex/config.toml': config.replace('gpt-5-codex', 'gpt-5.5'),
    }),
    readsInstructions: true,
    isResumed: true,
    tellsCommand: true,
    shellTool: 'exec_command',
    // Its own sandbox does not work in ours where the server is root, so its model has to ask for what is outside of it.
    shell: (command) => ({
      call: 'exec_command',
      input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'Write a file?' },
    }),
    write: (_workspace, name, text) => ({
      patch: `*** Begin Patch\n*** Add File: ${name}\n${text.replace(/^(?=.)/gm, '+')}*** End Patch\n`,
    }),
    // In the mode that we set, no setting keeps it from asking. The MCP servers of its user begin without a question.
    fearless: {
      args: [],
      files: {
        '.codex/config.toml': '[mcp_servers.note]\ncommand = "sh"\nargs = ["-c", "echo one > count.txt"]\n',
      },
      prompt: 'hello',
    },
  },
  copilot: {
    files: (given) => given,
    readsInstructions: true,
    isResumed: null,
    tellsCommand: true,
    shellTool: 'bash',
    shell: (command) => ({ call: 'bash', input: { command, description: 'Write a file' } }),
    write: (workspace, name, text) => ({ call: 'create', input: { path: `${workspace}/${name}`, file_text: text } }),
    fearless: { args: ['--allow-all-tools'], files: {}, prompt: 'run' },
  },
  gemini: {
    files: (given) => given,
    // Not without trust in the workspace.
    readsInstructions: false,
    // It finds none in which the model has not answered yet.
    isResumed: false,
    tellsCommand: false,
    shellTool: 'run_shell_command',
    shell: (command) => ({ call: 'run_shell_command', input: { command, description: 'Write a file' } }),
    write: (workspace, name, text) => ({
      call: 'write_file',
      input: { file_path: `${workspace}/${name}`, content: text },
    }),
    fearless: {
      args: [],
      files: {
        '.gemini/policies/ours.toml':
          '[[rule]]\ntoolName = "run_shell_command"\ndecision = "allow"\npriority = 900\nallowRedirection = true\n',
      },
      prompt: 'run',
    },
  },
}
