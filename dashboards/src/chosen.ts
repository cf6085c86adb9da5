/** Where Grafana puts in what is chosen for a variable, in a format of its own if one is given. */
export function chosen(variable: string): string {
  return `\${${variable}}`;
}
