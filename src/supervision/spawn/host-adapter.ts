// How each coding agent is started without a person: where it reads the address of our MCP server, and how it gets its prompt. A prompt is
// never an argument: every user of the machine can read command lines.

import { basename } from 'node:path'
import { ServerError } from '../../domain/errors.ts'

export interface LaunchRequest {
  prompt: string
  mcpUrl: string
  agentToken: string
  /** `host_cli_args`. */
  extraArgs: readonly string[]
  /** Path of a file that will exist when the host starts, readable only by this user. */
  file(name: string): string
}

export interface Launch {
  args: readonly string[]
  /** Contents of the files that were named. */
  files: Readonly<Record<string, string>>
  stdin: string
}

export interface HostAdapter {
  name: 'claude' | 'codex' | 'copilot' | 'gemini' | 'custom'
  /** What the host itself writes, in the home folder. In a sandbox everything else outside the workspace is read-only. */
  ownFolders: readonly string[]
  /** Throws `config_invalid` if the host can take its configuration or its prompt in no safe way. */
  launch(request: LaunchRequest): Launch
}

const SERVER = 'quarterdeck'

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const claude: HostAdapter = {
  name: 'claude',
  ownFolders: ['.claude', '.claude.json', '.cache', '.local/share/claude', '.local/state/claude'],
  launch: ({ prompt, mcpUrl, agentToken, extraArgs, file }) => ({
    // Our own tools need no permission: they are how it asks. Everything else is asked through `approve_tool`.
    args: [
      '-p',
      '--mcp-config',
      file('mcp.json'),
      '--allowedTools',
      `mcp__${SERVER}`,
      '--permission-prompt-tool',
      `mcp__${SERVER}__approve_tool`,
      ...extraArgs,
    ],
    files: {
      'mcp.json': json({ mcpServers: { [SERVER]: { type: 'http', url: mcpUrl, headers: bearer(agentToken) } } }),
    },
    stdin: prompt,
  }),
}

const codex: HostAdapter = {
  name: 'codex',
  ownFolders: ['.codex', '.cache'],
  launch: ({ prompt, mcpUrl, extraArgs }) => ({
    // It takes no second configuration file, but single keys. The token is not one of them: it is read from the environment.
    args: [
      'exec',
      // The settings say that it may work here; without this it refuses folders that are not a repository it trusts.
      '--skip-git-repo-check',
      '-c',
      `mcp_servers.${SERVER}.url=${JSON.stringify(mcpUrl)}`,
      '-c',
      `mcp_servers.${SERVER}.bearer_token_env_var="QUARTERDECK_AGENT_TOKEN"`,
      ...extraArgs,
      '-',
    ],
    files: {},
    stdin: prompt,
  }),
}

const copilot: HostAdapter = {
  name: 'copilot',
  ownFolders: ['.copilot', '.cache', '.config/github-copilot'],
  launch: ({ prompt, mcpUrl, agentToken, extraArgs, file }) => ({
    args: ['--additional-mcp-config', `@${file('mcp.json')}`, '--allow-tool', SERVER, ...extraArgs],
    files: {
      'mcp.json': json({
        mcpServers: { [SERVER]: { type: 'http', url: mcpUrl, headers: bearer(agentToken), tools: ['*'] } },
      }),
    },
    stdin: prompt,
  }),
}

const gemini: HostAdapter = {
  name: 'gemini',
  ownFolders: [],
  launch() {
    // A settings file that its environment names counts only if root owns it, and a second home folder would have no login.
    throw new ServerError(
      'config_invalid',
      'Gemini CLI reads MCP servers only from its own settings, so it cannot be started from here. Run quarterdeck connect gemini once, then start gemini yourself.',
    )
  },
}

const MCP_CONFIG = '{mcp_config}'
const PROMPT_FILE = '{prompt_file}'

/** A host that we do not know. The settings say where it reads the file with our server; without that it would never connect. */
const custom: HostAdapter = {
  name: 'custom',
  ownFolders: ['.cache'],
  launch({ prompt, mcpUrl, agentToken, extraArgs, file }) {
    if (!extraArgs.some((one) => one.includes(MCP_CONFIG))) {
      throw new ServerError(
        'config_invalid',
        `Quarterdeck does not know how host_cli reads the address of an MCP server. Add an argument with ${MCP_CONFIG} to host_cli_args, in the place of the path of a JSON file. If the host takes no such file, it cannot be started from here: start it by hand, with quarterdeck connect.`,
      )
    }
    const takesFile = extraArgs.some((one) => one.includes(PROMPT_FILE))
    const args = extraArgs.map((one) =>
      one.replaceAll(MCP_CONFIG, () => file('mcp.json')).replaceAll(PROMPT_FILE, () => file('prompt.txt')),
    )
    const config = { mcpServers: { [SERVER]: { type: 'http', url: mcpUrl, headers: bearer(agentToken) } } }
    return {
      args,
      files: { 'mcp.json': json(config), ...(takesFile ? { 'prompt.txt': prompt } : {}) },
      stdin: takesFile ? '' : prompt,
    }
  },
}

const adapters: readonly HostAdapter[] = [claude, codex, copilot, gemini]

/** The adapter for a program, by the name of its file. */
export function adapterFor(hostCli: string): HostAdapter {
  const name = basename(hostCli).replace(/\.(?:exe|cmd|js)$/i, '')
  return adapters.find((one) => one.name === name) ?? custom
}
