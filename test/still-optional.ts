/** Members of `*Deps` and `*Parts` that are optional and must not be. Take out what you mend; add nothing. */
export const stillOptional: readonly string[] = [
  'supervision/agents-elsewhere.ts ElsewhereDeps.files',
  'supervision/approvals/call-rules.ts CallRulesDeps.clock',
  'supervision/approvals/call-rules.ts CallRulesDeps.realPath',
  'supervision/checkpoints/hash-workspace.ts HashDeps.content',
  'supervision/checkpoints/hash-workspace.ts HashDeps.disk',
  'supervision/checkpoints/hash-workspace.ts HashDeps.progress',
  'supervision/checkpoints/restore-workspace.ts RestoreDeps.disk',
  'supervision/checkpoints/restore-workspace.ts RestoreDeps.progress',
]
