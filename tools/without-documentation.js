import ts from '@typescript/typescript6';

/** The functions that describe an option, and how many of their arguments the code needs. */
const NEEDED = { integer: 1, number: 1, word: 1, flag: 0 };

function importsOption(statement) {
  return ts.isImportDeclaration(statement) && /\/option\.ts$/.test(statement.moduleSpecifier.text);
}

/**
 * A plugin that leaves the defaults, units and descriptions of options out of the package: only the
 * reference shows them, which is made from the source. Blanks take their place, so that source maps
 * stay right.
 */
export function withoutDocumentation() {
  return {
    name: 'without-documentation',
    transform(code, id) {
      if (!id.endsWith('.ts') || !code.includes('/option.ts')) return null;
      const source = ts.createSourceFile(id, code, ts.ScriptTarget.Latest, true);
      if (!source.statements.some(importsOption)) return null;
      let result = code;
      const visit = (node) => {
        if (ts.isCallExpression(node) && Object.hasOwn(NEEDED, node.expression.getText())) {
          const needed = NEEDED[node.expression.getText()];
          const from = needed === 0 ? node.arguments.pos : node.arguments[needed - 1].end;
          const { end } = node.arguments;
          const blanks = code.slice(from, end).replace(/[^\n]/g, ' ');
          result = result.slice(0, from) + blanks + result.slice(end);
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
      return { code: result, map: null };
    },
  };
}
