import fc from 'fast-check'
import { risks } from '../../../domain/agent/tool-settings.ts'
import type { PolicyRequest, WorkspacePolicy } from '../workspace-policy.ts'

const list = (...from: string[]) => fc.uniqueArray(fc.constantFrom(...from), { maxLength: 3 })

/** Small alphabets, so that policies and requests often meet. */
export const policies: fc.Arbitrary<WorkspacePolicy> = fc.record({
  // Mostly on: a policy that is off is soon tested.
  enabled: fc.constantFrom(true, true, true, false),
  commands: list('npm test', 'npm *', 'git status', '* *', '*', 'npm test; ls', 'npm run "a b"'),
  tools: list('Read', 'Write', 'Bash', '*'),
  filePatterns: fc.record({
    write: list('**', 'src/**', '*.md', 'src/a.ts', '/etc/**', '../**', '.git/**'),
    read: list('**', 'docs/*', '**/*.ts'),
  }),
  riskLevelThreshold: fc.constantFrom(...risks),
  logAutoApproved: fc.boolean(),
  summaryIntervalSeconds: fc.constantFrom(0, 60, 300),
})

export const requests: fc.Arbitrary<PolicyRequest> = fc.record({
  toolName: fc.constantFrom('Read', 'Write', 'Bash', 'Other', '*'),
  filePath: fc.constantFrom(
    null,
    null,
    'src/a.ts',
    'README.md',
    'docs/x',
    '.git/hooks/pre-commit',
    '/etc/passwd',
    '../x',
  ),
  command: fc.constantFrom(
    null,
    null,
    'npm test',
    'git status',
    'npm test; rm -rf .',
    'npm test\nls',
    'npm run "a b"',
    'ls',
  ),
  riskLevel: fc.constantFrom('low', 'low', 'high', 'critical'),
  guarded: fc.constantFrom(null, null, 'The path is protected.'),
})

export const allowlist = [
  ['npm', 'test'],
  ['git', 'status'],
  ['npm', 'run', 'a b'],
]

export const limits = {
  allowlist,
  protectedBecause: (path: string): string | null => (path.startsWith('.git/') ? 'Git runs what is in it.' : null),
}

export const flatText = (policy: WorkspacePolicy): string =>
  JSON.stringify({
    enabled: policy.enabled,
    commands: policy.commands,
    tools: policy.tools,
    file_patterns: policy.filePatterns,
    risk_level_threshold: policy.riskLevelThreshold,
    log_auto_approved: policy.logAutoApproved,
    summary_interval_seconds: policy.summaryIntervalSeconds,
  })

export const nestedText = ({ logAutoApproved, summaryIntervalSeconds, ...autoApprove }: WorkspacePolicy): string =>
  JSON.stringify({ autoApprove, notifications: { logAutoApproved, summaryIntervalSeconds } }, null, 2)
