/** The lines of quarterdeck.yaml that give prices to models, to be filled in. */
export function priceLines(models: readonly string[], currency: string): string {
  // A name may have characters that mean something in YAML. JSON text is YAML too.
  const lines = models.map((model) => `    ${JSON.stringify(model)}: { input: 0.00, output: 0.00 }`)
  return ['prices:', `  currency: ${currency}`, '  models:', ...lines, ''].join('\n')
}
