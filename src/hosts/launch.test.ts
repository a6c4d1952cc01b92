import { describe, expect, test } from 'vitest'
import { launcherFor } from './hosts.ts'

const request = {
  prompt: 'the plan',
  mcpUrl: 'http://127.0.0.1:8000/mcp',
  agentToken: 'qd_token',
  extraArgs: ['--model', 'm'],
  file: (name: string) => `/run/${name}`,
}

const launch = (program: string, extraArgs = request.extraArgs) =>
  launcherFor(program).launch({ ...request, extraArgs })

describe('how hosts are started', () => {
  test('are chosen by the name of the program', () => {
    expect(
      ['claude', '/opt/bin/codex', 'copilot.exe', 'gemini', 'my-claude'].map((one) => launcherFor(one).name),
    ).toEqual(['claude', 'codex', 'copilot', 'gemini', 'custom'])
  })

  test.each(['claude', 'codex', 'copilot'])('%s has neither prompt nor token on its command line', (host) => {
    const { args, stdin } = launch(host)
    expect(stdin).toBe('the plan')
    expect(args.join(' ')).not.toMatch(/the plan|qd_token/)
  })

  test('claude asks us before it acts', () => {
    const { args, files } = launch('claude')
    expect(args).toEqual([
      '-p',
      '--mcp-config',
      '/run/mcp.json',
      '--allowedTools',
      'mcp__quarterdeck',
      '--permission-prompt-tool',
      'mcp__quarterdeck__approve_tool',
      '--model',
      'm',
    ])
    expect(JSON.parse(files['mcp.json'] ?? '')).toEqual({
      mcpServers: {
        quarterdeck: { type: 'http', url: request.mcpUrl, headers: { Authorization: 'Bearer qd_token' } },
      },
    })
  })

  test('codex reads the token from its environment', () => {
    expect(launch('codex')).toEqual({
      args: [
        'exec',
        '--skip-git-repo-check',
        '-c',
        'mcp_servers.quarterdeck.url="http://127.0.0.1:8000/mcp"',
        '-c',
        'mcp_servers.quarterdeck.bearer_token_env_var="QUARTERDECK_AGENT_TOKEN"',
        '--model',
        'm',
        '-',
      ],
      files: {},
      stdin: 'the plan',
    })
  })

  test('copilot reads a file', () => {
    expect(launch('copilot').args.slice(0, 2)).toEqual(['--additional-mcp-config', '@/run/mcp.json'])
  })

  test('gemini is refused, because it takes no configuration of ours', () => {
    expect(() => launch('gemini')).toThrow(/reads MCP servers only from its own settings/)
  })

  test('another host says where it reads its files, and gets its prompt by stdin if it names no file', () => {
    expect(launch('other', ['--mcp={mcp_config}']).stdin).toBe('the plan')
    const byFile = launch('other', ['{mcp_config}', '{prompt_file}'])
    expect([byFile.args, byFile.files['prompt.txt'], byFile.stdin]).toEqual([
      ['/run/mcp.json', '/run/prompt.txt'],
      'the plan',
      '',
    ])
    expect(() => launch('other', [])).toThrow(/it cannot be started from here/)
  })
})
