import type { CaseApproval } from '../domain/test-case.ts'

/** What the person of a test case says. */
export interface ApprovalAnswers {
  /** The next answer about this tool; null: the case has none. */
  next(tool: string): CaseApproval | null
  /** Those that nobody has asked for. */
  unused(): CaseApproval[]
}

export function createApprovalAnswers(given: readonly CaseApproval[]): ApprovalAnswers {
  const used = new Set<CaseApproval>()
  return {
    next(tool) {
      const mine = given.filter((one) => one.tool === tool)
      const answer = mine.find((one) => !used.has(one)) ?? mine.at(-1) ?? null
      if (answer !== null) used.add(answer)
      return answer
    },
    unused: () => given.filter((one) => !used.has(one)),
  }
}
