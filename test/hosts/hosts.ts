// The real hosts: which package, how to start one without a terminal and without the internet, and how its model writes a file.

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Step } from './scripted-model.ts'

export interface Host {
  name: 'claude' | 'codex' | 'copilot' | 'gemini'
  package: string
  version: string
  /** The program, in the folder where npm installed the package. */
  program(folder: string): string
  args: readonly string[]
  /** Lets the host act without asking at its terminal, so that only our hook can stop it. */
  fearless: readonly string[]
  env(modelUrl: string): Record<string, string>
  /** More of the host's own config, by path below HOME. */
  files(modelUrl: string): Record<string, string>
  /** A model's call of the host's shell. */
  shell(command: string): Step
  /** What the hook gets as the command, changed. */
  changed(input: Record<string, unknown>, command: string): Record<string, unknown>
  /** How the host calls a tool of our MCP server. */
  ownTool(name: string): string
  acp: AcpProgram
}

/** The program that speaks the Agent Client Protocol: the host itself, or an adapter that brings a host of its own. */
export interface AcpProgram {
  name: string
  package: string
  version: string
  program(folder: string): string
  args: readonly string[]
}

const platform = `${process.platform}-${process.arch}`

export const hosts: readonly Host[] = [
  {
    name: 'claude',
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    program: (folder) => join(folder, 'node_modules', '@anthropic-ai', `claude-code-${platform}`, 'claude'),
    args: ['-p', '--output-format', 'stream-json', '--verbose'],
    fearless: ['--dangerously-skip-permissions'],
    env: (modelUrl) => ({
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
      // Without it Claude Code does not skip permissions for root.
      IS_SANDBOX: '1',
    }),
    files: () => ({}),
    shell: (command) => ({ call: 'Bash', input: { command, description: 'Write a file' } }),
    changed: (input, command) => ({ ...input, command }),
    ownTool: (name) => `mcp__quarterdeck__${name}`,
    acp: {
      name: 'claude-acp',
      package: '@agentclientprotocol/claude-agent-acp',
      version: '0.99.1',
      program: (folder) => join(folder, 'node_modules', '.bin', 'claude-agent-acp'),
      args: [],
    },
  },
  {
    name: 'codex',
    package: '@openai/codex',
    version: '0.166.0',
    program: (folder) => join(folder, 'node_modules', '.bin', 'codex'),
    // Codex does not wait for an MCP server that is not required, and a scripted model cannot look for tools later.
    args: ['exec', '--skip-git-repo-check', '--json', '-c', 'mcp_servers.quarterdeck.required=true'],
    fearless: ['--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust'],
    env: () => ({}),
    files: (modelUrl) => ({
      '.codex/config.toml': [
        'model = "gpt-5-codex"',
        'model_provider = "scripted"',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${modelUrl}/v1"`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    }),
    shell: (command) => ({ call: 'exec_command', input: { cmd: command } }),
    changed: (input, command) => ({ ...input, command }),
    ownTool: (name) => `mcp__quarterdeck__${name}`,
    acp: {
      name: 'codex-acp',
      package: '@agentclientprotocol/codex-acp',
      version: '2.6.0',
      program: (folder) => join(folder, 'node_modules', '.bin', 'codex-acp'),
      args: [],
    },
  },
  {
    name: 'copilot',
    package: '@github/copilot',
    version: '1.0.102',
    program: (folder) => join(folder, 'node_modules', '@github', `copilot-${platform}`, 'copilot'),
    args: ['-p', 'Go.', '--no-color'],
    fearless: ['--allow-all-tools'],
    env: (modelUrl) => ({
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_PROVIDER_WIRE_API: 'responses',
      COPILOT_MODEL: 'gpt-5',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    files: () => ({}),
    shell: (command) => ({ call: 'bash', input: { command, description: 'Write a file' } }),
    changed: (input, command) => ({ ...input, command }),
    ownTool: (name) => `quarterdeck-${name}`,
    acp: {
      name: 'copilot',
      package: '@github/copilot',
      version: '1.0.102',
      program: (folder) => join(folder, 'node_modules', '@github', `copilot-${platform}`, 'copilot'),
      args: ['--acp'],
    },
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli',
    version: '0.61.0',
    program: (folder) => join(folder, 'node_modules', '.bin', 'gemini'),
    // Without a model's name it asks a model which one to take.
    args: ['-p', 'Go.', '-m', 'gemini-2.5-flash'],
    fearless: ['--yolo'],
    env: (modelUrl) => ({
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
    }),
    // With an address of its own for the model, it does not take the key from the environment by itself.
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false },
        model: { disableLoopDetection: true },
      }),
    }),
    shell: (command) => ({ call: 'run_shell_command', input: { command, description: 'Write a file' } }),
    changed: (input, command) => ({ ...input, command }),
    ownTool: (name) => `mcp_quarterdeck_${name}`,
    acp: {
      name: 'gemini',
      package: '@google/gemini-cli',
      version: '0.61.0',
      program: (folder) => join(folder, 'node_modules', '.bin', 'gemini'),
      args: ['--acp', '-m', 'gemini-2.5-flash'],
    },
  },
]

const cache = process.env.QUARTERDECK_HOSTS_CACHE ?? join(homedir(), '.cache', 'quarterdeck', 'hosts')

type Program = Pick<Host, 'name' | 'version' | 'program'> | AcpProgram

export const folderOf = ({ name, version }: Program): string => join(cache, `${name}-${version}`)

/** Null if the host is not there, for example because there is no version for this machine. */
export function programOf(host: Program): string | null {
  const program = host.program(folderOf(host))
  return existsSync(program) ? program : null
}
