from pkg.masks import mask_of  # expect: CG101 pkg.masks:mask_of collection-error lost=1
