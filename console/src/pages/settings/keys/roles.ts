import type { Token } from 'quarterdeck/client'

export const roleWords: Readonly<Record<Token['role'], { name: string; about: string }>> = {
  user: { name: 'User', about: 'Talks to agents and sees its own sessions.' },
  operator: { name: 'Operator', about: 'Sees everything, decides, and changes settings.' },
  agent: { name: 'Agent', about: 'A coding agent that works in one folder and asks here for approval.' },
}
