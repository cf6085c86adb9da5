import ts from '@typescript/typescript6';

function takesUndefined(type) {
  return (
    ts.isUnionTypeNode(type) &&
    type.types.some((each) => each.kind === ts.SyntaxKind.UndefinedKeyword)
  );
}

/**
 * A plugin that adds `| undefined` to the types of optional properties in bundled declarations.
 * The source is compiled without `exactOptionalPropertyTypes`, so there `limit?: number` takes
 * undefined; in a project that sets it, it would not, unless the declaration says so.
 */
export function optionalProperties() {
  return {
    name: 'optional-properties',
    renderChunk(code, { fileName }) {
      const source = ts.createSourceFile(fileName, code, ts.ScriptTarget.Latest);
      const inserts = [];
      const visit = (node) => {
        const isProperty = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
        if (isProperty && node.questionToken !== undefined && node.type !== undefined) {
          const { type } = node;
          const isEnclosed = ts.isFunctionTypeNode(type) || ts.isConditionalTypeNode(type);
          if (isEnclosed) inserts.push({ at: type.getStart(source), text: '(' });
          if (!takesUndefined(type)) {
            inserts.push({ at: type.end, text: isEnclosed ? ') | undefined' : ' | undefined' });
          }
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
      let result = code;
      // Edit from the end, so that earlier positions stay valid.
      for (const { at, text } of inserts.toSorted((a, b) => b.at - a.at)) {
        result = result.slice(0, at) + text + result.slice(at);
      }
      return result;
    },
  };
}
