import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import type { HostSetup } from '../../../hosts/host.ts'
import { type HostName, hostNames, hosts } from '../../../hosts/hosts.ts'
import { hookCommand, isForAll, withOurs, withoutOurs } from './edit-config.ts'

const at = { home: '/home/ada', env: {} }
const program = { node: '/usr/bin/node', launcher: '/opt/quarterdeck/bin/quarterdeck.js', env: {} }

const setupFor = (host: HostName, workspace: string | null, more: Partial<HostSetup> = {}): HostSetup => ({
  workspace,
  server: { type: 'stdio', command: program.node, args: [program.launcher, 'mcp', '--connection', host], env: {} },
  hook: (event, isQuestion) =>
    hookCommand(host, program, { event, isQuestion, folders: workspace === null ? null : '/c/folders.json' }),
  ...more,
})
const http: HostSetup['server'] = { type: 'http', url: 'http://127.0.0.1:8000/mcp', token: 'secret' }

const filesOf = (host: HostName) => hosts[host].configFiles(at)
const applied = (host: HostName, texts: readonly (string | null)[], setup: HostSetup): string[] =>
  filesOf(host).map((file, i) => withOurs(file, texts[i] ?? null, setup))
const removed = (host: HostName, texts: readonly string[], workspace: string | null, isLast = true) =>
  filesOf(host).map((file, i) => withoutOurs(file, texts[i] ?? '', { workspace, isLast }))
const forAll = (host: HostName, texts: readonly (string | null)[]): boolean =>
  filesOf(host).some((file, i) => isForAll(file, texts[i] ?? null))

/** Configs that people really have: comments, other servers, other hooks, other indentation. */
const before: Record<HostName, (string | null)[]> = {
  claude: [
    `{
  "numStartups": 3,
  "projects": {
    "/home/ada/other": {
      "allowedTools": [],
      "mcpServers": {}
    }
  },
  "mcpServers": {
    "notes": { "type": "stdio", "command": "notes" }
  }
}
`,
    `{
    "permissions": { "allow": ["Bash(npm test)"] },
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./check.sh" }] }
        ]
    }
}
`,
  ],
  codex: [
    `# my settings
model = "gpt-5-codex" # the good one
notify = [
  "bash", # comment
  "-c"
]
text = """
[mcp_servers.quarterdeck]
not a table
"""

[mcp_servers.notes]
command = "notes"

# about projects
[projects."/home/ada/shop"]
trust_level = "trusted"
`,
    `{
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  }
}`,
  ],
  copilot: [
    `{
\t"mcpServers": {
\t\t"notes": { "type": "local", "command": "notes", "tools": ["*"] }
\t}
}`,
    `{
  // my theme
  "theme": "dark", /* really */
  "hooks": { "preToolUse": [{ "type": "command", "bash": "./check.sh" }] },
}
`,
  ],
  gemini: [
    '{\r\n  // comment\r\n  "ui": { "theme": "GitHub" },\r\n  "mcpServers": { "notes": { "command": "notes" } }\r\n}\r\n',
  ],
}

describe.each(hostNames)('connect %s', (host) => {
  const setup = setupFor(host, '/home/ada/it’s a shop')

  test('and back leaves the files as they were', () => {
    const after = applied(host, before[host], setup)

    expect(after).not.toEqual(before[host])
    expect(removed(host, after, setup.workspace)).toEqual(before[host])
  })

  test('and back leaves no file where there was none', () => {
    const after = applied(host, [], setup)

    expect(removed(host, after, setup.workspace)).toEqual(after.map(() => null))
  })

  test('twice is the same as once', () => {
    const once = applied(host, before[host], setup)

    expect(applied(host, once, setup)).toEqual(once)
  })

  test('again with another address replaces what was there', () => {
    const over = applied(host, applied(host, before[host], setup), { ...setup, server: http })

    expect(over).toEqual(applied(host, before[host], { ...setup, server: http }))
    expect(over.join('')).toContain('Bearer secret')
  })

  test('a second folder does not disturb the first, and adds no hook', () => {
    const first = applied(host, before[host], setup)
    const both = applied(host, first, setupFor(host, '/home/ada/two'))

    expect(both.at(-1)).toBe(first.at(-1))
    expect(removed(host, both, '/home/ada/two', false)).toEqual(first)
  })

  test('for all folders', () => {
    const everywhere = applied(host, before[host], setupFor(host, null))

    expect(forAll(host, everywhere)).toBe(true)
    expect(forAll(host, applied(host, before[host], setup))).toBe(false)
    expect(forAll(host, before[host])).toBe(false)
    expect(removed(host, everywhere, null)).toEqual(before[host])
  })

  test('a file that is broken is refused, with its name', () => {
    for (const file of filesOf(host)) {
      expect(() => withOurs(file, '{ "a": ', setup)).toThrow(file.path)
      expect(() => withOurs(file, '[1, 2]\n', setup)).toThrow(file.path)
    }
  })
})

const ask = (event: string, host: HostName) =>
  `'/usr/bin/node' '/opt/quarterdeck/bin/quarterdeck.js' hook ${host} ${event} --folders '/c/folders.json' --limit 3600 ` +
  `|| sh -c 'echo "Quarterdeck could not be asked, so this call is refused." >&2; exit 2'`
const tell = (event: string, host: HostName) =>
  `'/usr/bin/node' '/opt/quarterdeck/bin/quarterdeck.js' hook ${host} ${event} --folders '/c/folders.json' --limit 3600`

describe('what is written', () => {
  test('for Claude Code', () => {
    const [state = '', settings = ''] = applied('claude', [], setupFor('claude', '/w'))
    const notice = (event: string) => [{ hooks: [{ type: 'command', command: tell(event, 'claude'), timeout: 10 }] }]

    expect(filesOf('claude').map(({ path }) => path)).toEqual([
      '/home/ada/.claude.json',
      '/home/ada/.claude/settings.json',
    ])
    expect(parseJson(state)).toEqual({
      projects: {
        '/w': {
          mcpServers: {
            quarterdeck: {
              type: 'stdio',
              command: '/usr/bin/node',
              args: ['/opt/quarterdeck/bin/quarterdeck.js', 'mcp', '--connection', 'claude'],
              env: {},
              timeout: 3_660_000,
            },
          },
        },
      },
    })
    expect(parseJson(settings)).toEqual({
      hooks: {
        PreToolUse: [
          {
            matcher: '*',
            hooks: [
              {
                type: 'command',
                command: ask('PreToolUse', 'claude'),
                timeout: 3_660,
                onFailure: 'block',
                statusMessage: 'Asking Quarterdeck. If it waits for you, answer in its console or in ctl.',
              },
            ],
          },
        ],
        SessionStart: notice('SessionStart'),
        SessionEnd: notice('SessionEnd'),
        Stop: notice('Stop'),
        Notification: notice('Notification'),
      },
    })
  })

  test('for Codex', () => {
    const [config = '', hooks = ''] = applied('codex', [], setupFor('codex', '/w'))
    const entry = (command: string, timeout: number) => [{ hooks: [{ type: 'command', command, timeout }] }]

    expect(parseToml(config)).toEqual({
      mcp_servers: {
        quarterdeck: {
          command: '/usr/bin/node',
          args: ['/opt/quarterdeck/bin/quarterdeck.js', 'mcp', '--connection', 'codex'],
          startup_timeout_sec: 30,
          tool_timeout_sec: 3_660,
        },
      },
    })
    expect(parseJson(hooks)).toEqual({
      hooks: {
        PreToolUse: entry(ask('PreToolUse', 'codex'), 3_660),
        PermissionRequest: entry(ask('PermissionRequest', 'codex'), 3_660),
        SessionStart: entry(tell('SessionStart', 'codex'), 10),
        SessionEnd: entry(tell('SessionEnd', 'codex'), 3),
        Stop: entry(tell('Stop', 'codex'), 10),
      },
    })
  })

  test('for Copilot CLI', () => {
    const [servers = '', settings = ''] = applied('copilot', [], setupFor('copilot', '/w', { server: http }))

    expect(parseJson(servers)).toEqual({
      mcpServers: {
        quarterdeck: {
          type: 'http',
          url: 'http://127.0.0.1:8000/mcp',
          headers: { Authorization: 'Bearer secret' },
          tools: ['*'],
          timeout: 3_660_000,
        },
      },
    })
    expect(parseJson(settings).hooks.PreToolUse).toEqual([
      { type: 'command', bash: ask('PreToolUse', 'copilot'), timeoutSec: 3_660 },
    ])
  })

  test('for Gemini CLI', () => {
    const [settings = ''] = applied('gemini', [], setupFor('gemini', '/w'))
    const { mcpServers, hooks } = parseJson(settings)

    expect(mcpServers.quarterdeck).toMatchObject({ command: '/usr/bin/node', timeout: 3_660_000, trust: true })
    expect(hooks.BeforeTool).toEqual([
      {
        matcher: '*',
        hooks: [{ name: 'quarterdeck', type: 'command', command: ask('BeforeTool', 'gemini'), timeout: 3_660_000 }],
      },
    ])
  })

  test('other folders of the hosts’ configs are found by their variables', () => {
    const env = { CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x', COPILOT_HOME: '/p' }

    expect(
      [hosts.claude, hosts.codex, hosts.copilot].map((one) => one.configFiles({ ...at, env }).map(({ path }) => path)),
    ).toEqual([
      ['/c/.claude.json', '/c/settings.json'],
      ['/x/config.toml', '/x/hooks.json'],
      ['/p/mcp-config.json', '/p/settings.json'],
    ])
  })
})

describe('a TOML file', () => {
  const changed = (text: string) => applied('codex', [text], setupFor('codex', '/w'))[0] ?? ''

  test.each([
    [
      'in the middle',
      '[mcp_servers.quarterdeck]\ncommand = "old"\n\n# mine\n[tui]\na = 1\n',
      '\n# mine\n[tui]\na = 1\n',
    ],
    [
      'with a sub-table',
      'a = 1\n\n[mcp_servers.quarterdeck]\nb = 1\n[mcp_servers.quarterdeck.env]\nC = "d"\n',
      'a = 1\n',
    ],
    ['with quoted keys', '[ "mcp_servers" . \'quarterdeck\' ] # old\nb = 1\n', ''],
    ['with a comment after it', '[mcp_servers.quarterdeck]\nb = 1\n\n# the end\n', '\n# the end\n'],
    ['without a last line break', 'a = 1\n[mcp_servers.quarterdeck]\nb = """\n[x]\n"""', 'a = 1\n'],
  ])('that has our table %s', (_name, text, rest) => {
    expect(changed(text)).toBe(changed(rest))
    expect(removed('codex', [text, '{}'], null)[0]).toBe(rest === '' ? null : rest)
  })

  test.each(['mcp_servers = { quarterdeck = { command = "x" } }\n', '[mcp_servers]\nquarterdeck.command = "x"\n'])(
    'that writes it in another way is refused: %j',
    (text) => {
      expect(() => changed(text)).toThrow('/home/ada/.codex/config.toml cannot be changed')
    },
  )
})
