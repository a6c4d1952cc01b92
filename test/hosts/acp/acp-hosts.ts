// What differs between the real agents when a server hosts them: how their models run and write, and how their users tell them to ask nobody.

import type { Host } from '../hosts.ts'
import type { Step } from '../scripted-model.ts'

export interface AcpHost {
  env: Readonly<Record<string, string>>
  /** The tool's name under which a command is asked about. */
  shellTool: string
  shell(command: string): Step
  /** A new file, written with the host's own tool. */
  write(workspace: string, name: string, text: string): Step
  /** What a user writes into its settings so that it asks nobody. */
  fearless: { args: readonly string[]; files: Readonly<Record<string, string>> }
}

export const acpHosts: Readonly<Record<Host['name'], AcpHost>> = {
  claude: {
    env: {},
    shellTool: 'Bash',
    shell: (command) => ({ call: 'Bash', input: { command, description: 'Write a file' } }),
    write: (workspace, name, text) => ({ call: 'Write', input: { file_path: `${workspace}/${name}`, content: text } }),
    fearless: {
      args: [],
      files: { '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash', 'Write'] } }) },
    },
  },
  codex: {
    env: {},
    shellTool: 'exec_command',
    shell: (command) => ({ call: 'exec_command', input: { cmd: command } }),
    write: (_workspace, name, text) => ({
      patch: `*** Begin Patch\n*** Add File: ${name}\n${text.replace(/^(?=.)/gm, '+')}*** End Patch\n`,
    }),
    fearless: {
      args: [],
      files: {
        '.codex/rules/default.rules':
          'prefix_rule(pattern=["bash"], decision="allow")\nprefix_rule(pattern=["/bin/bash"], decision="allow")\n',
      },
    },
  },
  copilot: {
    env: {},
    shellTool: 'bash',
    shell: (command) => ({ call: 'bash', input: { command, description: 'Write a file' } }),
    write: (workspace, name, text) => ({ call: 'create', input: { path: `${workspace}/${name}`, file_text: text } }),
    fearless: { args: ['--allow-all-tools'], files: {} },
  },
  gemini: {
    env: {},
    shellTool: 'run_shell_command',
    shell: (command) => ({ call: 'run_shell_command', input: { command, description: 'Write a file' } }),
    write: (workspace, name, text) => ({
      call: 'write_file',
      input: { file_path: `${workspace}/${name}`, content: text },
    }),
    fearless: { args: ['--yolo'], files: {} },
  },
}
