import type { Mutant } from '../mutant.ts'
import { approvalMutants } from './approval-mutants.ts'
import { clusterMutants } from './cluster-mutants.ts'
import { diskMutants } from './disk-mutants.ts'
import { elsewhereMutants } from './elsewhere-mutants.ts'
import { engineMutants } from './engine-mutants.ts'
import { hostedMutants } from './hosted-mutants.ts'
import { logMutants } from './log-mutants.ts'
import { storeMutants } from './store-mutants.ts'

export const mutants: readonly Mutant[] = [
  ...diskMutants,
  ...storeMutants,
  ...logMutants,
  ...engineMutants,
  ...approvalMutants,
  ...elsewhereMutants,
  ...clusterMutants,
  ...hostedMutants,
]
